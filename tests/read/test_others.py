"""efsmi, lspci, version files, packages, Docker, network and install logs: exact values."""
# ruff: noqa: E501 - lines of the tools stand here as they print them

from __future__ import annotations

from typing import Any

import pytest

from provision.facts.texts.reading import read
from tests.read import samples
from tests.read.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_told_and_is_nothing_else(name: str) -> None:
    kind, text = SAMPLES[name]
    value = read(text)
    assert value["kind"] == kind
    assert "more" not in value


def test_the_whole_value_of_efsmi() -> None:
    value = read(samples.EFSMI)
    names = ("device_id", "name", "bus_id", "temperature_c", "power_w", "power_cap_w",
             "memory_total_mb", "ecc")  # fmt: skip
    assert value == {
        "schema": "paddock/read/1", "kind": "efsmi", "tool_version": "1.4.1.7",
        "driver_version": "1.4.1.8",
        "cards": [
            dict(zip(names, row, strict=True)) for row in (
                (0, "Enflame S60", "00:41:00.0", 45, 101, 300, 49120, "Disable"),
                (1, "Enflame S60", "00:42:00.0", 46, 102, 299, 42976, "Enable"),
                (2, "Enflame S60", "00:43:00.0", None, None, None, 42976, "Enable"),
            )
        ],
    }  # fmt: skip


def test_a_new_efsmi() -> None:
    first, second = read(samples.EFSMI_NEW)["cards"]
    assert (first["temperature_c"], first["power_w"], first["power_cap_w"]) == (35, 68, 300)
    assert first["memory_total_mb"] == 144 * 1024
    assert (second["name"], second["power_w"], second["power_cap_w"]) == (
        "Enflame S60G",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("state", "values"),
    [
        ("45℃    Sleep    101W / 300W", (45, 101, 300)),
        ("       Sleep    101W / 300W", (None, 101, 300)),
        ("                101W / 300W", (None, 101, 300)),
        ("45℃             300W", (45, None, None)),
        ("45 C   Active   -   / 300W", (45, None, 300)),
        ("-5 C   Active   95.5W / 300W", (-5, 95.5, 300)),
        ("N/A    Active   N/A / N/A", (None, None, None)),
    ],
)
def test_what_efsmi_leaves_out_never_moves(state: str, values: tuple[Any, ...]) -> None:
    text = samples.EFSMI.replace("45℃    Sleep    101W / 300W", f"{state:<27}")
    card = read(text)["cards"][0]
    assert (card["temperature_c"], card["power_w"], card["power_cap_w"]) == values
    assert card["memory_total_mb"] == 49120


def test_efsmi_without_its_headings_is_unknown() -> None:
    lines = [line for line in samples.EFSMI.splitlines() if "NAME" not in line]
    assert read("\n".join(lines))["why"] == "efsmi-headings"


def test_efsmi_q_with_new_and_old_names() -> None:
    new, old = read(samples.EFSMI_QUERY)["devices"]
    assert (new["driver_version"], new["bus_id"], new["health"]) == (
        "1.5.0.1",
        "0000:1b:00.0",
        "True",
    )
    assert (new["power_w"], new["power_cap_w"], new["temperature_c"]) == (97.5, 300, 35)
    assert (new["memory_used_mb"], new["ecc"]) == (1129, "Enable")
    assert new["sections"]["Link Info"]["Cur Link Speed"] == "Gen3"
    assert (old["memory_total_mb"], old["memory_used_mb"], old["ecc"]) == (42976, None, "disable")


def test_efsmi_dmon() -> None:
    value = read(samples.EFSMI_DMON)
    assert value["units"]["MUsed"] == "%"
    assert value["rows"][0] == {"Dev": 0, "Pwr": 101, "DTemp": 36, "Sip": 1.5, "DUsed": 0.0,
                                "Dpm": "Sleep", "MUsed": 84.1, "Mem": 42976}  # fmt: skip
    assert "DTemp" not in value["rows"][1]
    assert value["rows"][1]["Dpm"] == "Active"


def devices(text: str) -> list[tuple[Any, ...]]:
    """The values of each device."""
    return [tuple(device.values()) for device in read(text)["devices"]]


def test_lspci_by_names() -> None:
    assert devices(samples.LSPCI) == [
        ("28:00.0", "19e5", "d802", "1200", "Ascend 910B"),
        ("75:00.0", "19e5", None, "1200", None),
        ("02:00.0", "19e5", None, "VGA compatible controller", None),
        ("01:00.0", "1e36", "c035", "1200", "Enflame S60 48GB"),
        ("03:00.0", None, None, "Ethernet controller", None),
    ]


def test_lspci_by_ids() -> None:
    assert devices(samples.LSPCI_NN) == [
        ("0000:18:00.0", "19e5", "d500", "1200", "Ascend 310P"),
        ("0000:19:00.0", "203f", "d802", "1200", "Ascend 910B (OEM)"),
        ("0001:3b:00.0", "19e5", "0222", "0200", None),
    ]
    assert devices(samples.LSPCI_N) == [
        ("28:00.0", "19e5", "d802", "1200", "Ascend 910B"),
        ("08:00.0", "1e36", "c033", "1200", "Enflame S60G 48GB"),
    ]
    assert devices(samples.LSPCI_VMM) == [
        ("0000:c1:00.0", "19e5", "d803", "1200", "Ascend 910C"),
        ("0000:c2:00.0", "8086", "1521", "0200", None),
    ]
    assert devices(samples.LSPCI_MM) == [("0000:5e:00.0", "1e36", "c041", "1200", "Enflame L300")]


@pytest.mark.parametrize(
    ("line", "accelerator"),
    [
        ("01:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd S60G [Enflame] (rev 01)",
         "Enflame S60G 48GB"),
        ("01:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd S6 (rev 01)", "Enflame S6"),
        ("01:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd Device c035", "Enflame S60 48GB"),
        ("01:00.0 Processing accelerators: Shanghai Enflame Technology Co. Ltd S61 [Enflame]", None),
        ("01:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d809 (rev 20)", None),
        ("01:00.0 Processing accelerators: Broadcom Inc. Device d802 (rev 20)", None),
        ("01:00.0 Ethernet controller: Huawei Technologies Co., Ltd. Device d802 (rev 20)", None),
        ("01:00.0 0200: 19e5:d802", None),
    ],
)  # fmt: skip
def test_an_accelerator_is_class_and_ids_never_a_likeness(
    line: str, accelerator: str | None
) -> None:
    assert read(line)["devices"][0]["accelerator"] == accelerator


def test_version_files() -> None:
    driver, firmware = read(samples.DRIVER), read(samples.FIRMWARE)
    assert (driver["version"], driver["inner_version"]) == ("24.1.9", "V100R001C20SPC001B999")
    assert driver["ranges"] == [("7.3.0", "7.5.99"), ("7.6.0", "7.6.9")]
    assert driver["compatible"] == ["V100R001C18", "V100R001C19", "V100R001C20"]
    assert firmware["ranges"] == [("24.1.rc3", "24.1.rc3."), ("24.1.0", "24.1.0.")]
    assert (firmware["version"], firmware["package_version"]) == ("7.5.0.9.220", "24.1.9")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cann", ("Ascend-cann-toolkit", "8.0.1", None, "aarch64")),
        ("kernels", ("Ascend-cann-kernels-910b", "8.0.1", "910b", "aarch64")),
        ("ops", ("Ascend-cann-A3-ops", "8.5.1", "a3", None)),
    ],
)
def test_packages_of_cann_and_the_chip_they_are_for(name: str, values: tuple[Any, ...]) -> None:
    found = read(SAMPLES[name][1])
    assert (found["package"], found["version"], found["chip"], found["arch"]) == values


def test_other_files_of_versions() -> None:
    assert read(samples.CFG)["components"] == {"runtime": "8.0.1", "hccl": "8.0.2"}
    assert (read(samples.NNAL)["package"], read(samples.NNAL)["version"]) == (
        "Ascend-cann-atb",
        "9.1.1",
    )
    assert read(samples.INSTALL)["path"] == "/usr/local/Ascend"
    assert read(samples.INSTALL)["version"] is None


def test_several_files_in_one_text() -> None:
    text = f"# driver\n{samples.DRIVER}{samples.FIRMWARE}\n\nthen:\n{samples.CANN}"
    value = read(text)
    kinds = [value["kind"], *(part["kind"] for part in value["more"])]
    assert kinds == ["driver version.info", "firmware version.info", "cann install.info"]
    assert value["more"][1]["version"] == "8.0.1"


def packages(text: str) -> list[tuple[Any, ...]]:
    """The values of each package."""
    return [tuple(package.values()) for package in read(text)["packages"]]


def test_packages() -> None:
    assert packages(samples.DPKG) == [
        ("libgcc-s1", "12.2.0-14", "arm64", "ii"), ("topsaten", "3.4.623", "amd64", "ii"),
        ("old-driver", "1:1.0~rc1", "all", "rc"),
    ]  # fmt: skip
    assert packages(samples.RPM)[1] == ("Ascend-npu-driver", "24.1.0-1", "aarch64", None)
    names = [(row[0], row[1]) for row in packages(samples.PIP)]
    assert names == [
        ("paddlepaddle", "3.0.0"),
        ("paddle-custom-npu", "3.0.0.dev1"),
        ("mine", "0.1"),
    ]
    assert packages(samples.FREEZE)[1][:2] == ("paddlenlp", "3.0.0b4")
    as_json = '[{"name": "paddlepaddle", "version": "3.0.0"}, {"name": 1}]'
    assert packages(as_json) == [("paddlepaddle", "3.0.0", None, None)]
    assert packages('pip list | grep "torch "\ntorch      2.1.0\n') == [
        ("torch", "2.1.0", None, None)
    ]


def test_a_container() -> None:
    assert read(samples.INSPECT)["containers"] == [
        {
            "name": "npu", "image": "paddle-npu:1", "state": "running", "runtime": "ascend",
            "privileged": False, "network": "host", "shm_bytes": 67108864,
            "devices": ["/dev/davinci0", "/dev/hisi_hdc"],
            "mounts": [{"source": "/usr/local/dcmi", "destination": "/usr/local/dcmi", "writable": True}],
            "environment": {"ASCEND_VISIBLE_DEVICES": "0,1", "HF_TOKEN": "***", "EMPTY": ""},
            "inside": ["/dev/davinci0", "/dev/hisi_hdc"],
            "ipc": None, "exit_code": None, "out_of_memory": None, "error": None,
        }
    ]  # fmt: skip
    odd = '[{"HostConfig": [], "Config": 3, "Mounts": {"a": 1}, "Name": null}]'
    assert read(odd)["containers"][0]["devices"] == []


def test_the_engine() -> None:
    value = read(samples.DAEMON)
    assert (value["default_runtime"], value["runtimes"]) == (
        "runc", {"enflame": "/usr/bin/enflame-container-runtime"},
    )  # fmt: skip
    assert read(f"[2026-01-02] started\n$ docker inspect npu\n{samples.INSPECT}") == read(
        samples.INSPECT
    )
    assert read("[" * 100_000)["kind"] is None
    assert read('{"a": 1}')["kind"] is None


def test_the_network_of_a_card() -> None:
    value = read(samples.HCCN)
    assert (value["device_id"], value["values"]["link up count"]) == (3, "2")
    assert [change["state"] for change in value["changes"]] == ["UP", "DOWN"]
    other = read("hccn_tool -i 2 -ip -g\nipaddr:192.0.2.7\nnetmask:255.255.255.0\n")
    assert (other["kind"], other["device_id"], other["values"]["ipaddr"]) == (
        "hccn_tool -ip",
        2,
        "192.0.2.7",
    )


@pytest.mark.parametrize(
    "text",
    ["Port 0 Link status: up at 25 Gbps FDX\n", "Link status: DOWN\n", "eth0\n  link status: DOWN\n",
     "link status: degraded\n", "link status\n", "link status: DOWN since Monday\n"],
)  # fmt: skip
def test_the_link_of_something_else_is_not_that_of_a_card(text: str) -> None:
    assert read(text)["kind"] is None


def test_a_link_whose_tool_was_asked_needs_no_exact_words() -> None:
    value = read("$ hccn_tool -i 4 -link -g\n  link status: DOWN\n")
    assert (value["kind"], value["device_id"], value["values"]) == (
        "hccn_tool -link", 4, {"link status": "DOWN"},
    )  # fmt: skip


UDA = "[ascend] [uda] [ERROR] [uda_open 17] <npu-smi:41,41> Conflict open udevid. (udevid=2)"
RESET = "enflame 0000:41:00.0: card 0 is reset"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (UDA, [UDA]),
        (f"<3>{UDA}\n(access_ns=1; ns=2)", [f"<3>{UDA}"]),
        (f"{RESET}\nnvme 0000:02:00.0: ready", [RESET]),
        (f"$ dmesg -t | tail\nusb 1-1: new\nenflame: a line of no form\n{UDA}",
         ["enflame: a line of no form", UDA]),
        (f"root@box:~# journalctl -k -o cat\n{RESET}\nenflame: ready", [RESET, "enflame: ready"]),
    ],
)  # fmt: skip
def test_a_kernel_log_without_times(text: str, lines: list[str]) -> None:
    value = read(text)
    assert (value["kind"], value["lines"]) == ("dmesg", lines)


@pytest.mark.parametrize(
    "text",
    [
        "nvme 0000:02:00.0: ready\n", "enflame is a company\n",
        "see [ascend] [uda] [ERROR] [uda_open 17]\n", "[ascend] is the tag of our logs\n",
        "[ascend] [0] [1] [2]\n", "davinci0: a node\n",
        "Jan  2 03:04:05 ascend-01 kernel: usb 1-1: new device\n",
    ],
)  # fmt: skip
def test_words_about_a_driver_are_no_line_of_the_kernel(text: str) -> None:
    assert read(text)["kind"] is None


def test_an_install_log() -> None:
    value = read(samples.TOPSRIDER)
    assert (value["total"], value["installed"], value["finished"], value["archive_good"]) == (
        2,
        2,
        True,
        True,
    )
    cut = read(samples.TOPSRIDER.split("[2/2]")[0])
    assert (cut["finished"], cut["installed"]) == (False, None)


def test_a_module_and_nodes() -> None:
    text = "# cat /sys/module/enflame/version\n1.5.0.1\n# ls /dev/gcu*\n/dev/gcu0 /dev/gcu1  /dev/gcuctl\n"
    value = read(text)
    assert (value["module"], value["version"]) == ("enflame", "1.5.0.1")
    assert value["more"][0]["nodes"] == ["/dev/gcu0", "/dev/gcu1", "/dev/gcuctl"]


def test_shares_of_a_node_are_its_capacity() -> None:
    text = "Capacity:\n  cpu: 16\n  huawei.com/Ascend310P:  7\nAllocatable:\n  huawei.com/Ascend310P:  3\n"
    assert read(text)["resources"] == {"huawei.com/Ascend310P": 7}


def test_a_capture_of_several_commands() -> None:
    text = (
        "Datetime: 2026-01-01\n\n[root@box ~]# npu-smi info -m\n" + samples.MAP
        + "\nroot@box:~# lspci -n\n" + samples.LSPCI_N + "\n/usr/local/bin/npu-smi info\n"
        + SAMPLES["910B3"][1] + "\n$ uname -a\nLinux box\n$ cat /etc/ascend_install.info\n" + samples.INSTALL
    )  # fmt: skip
    value = read(text)
    assert value["kind"] == "npu-smi info"
    assert [part["kind"] for part in value["more"]] == [
        "npu-smi info -m",
        "lspci",
        "ascend_install.info",
    ]


@pytest.mark.parametrize(
    "text", ["", " \n\n\t", "hello\n", "a: b\nc: d\n", "| a | b |\n", "1.5.0.1\n"]
)
def test_what_is_not_known_says_so(text: str) -> None:
    value = read(text)
    assert value["kind"] is None
    assert value["why"] == ("no-layout" if text.strip() else "empty")
