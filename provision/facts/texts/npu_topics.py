"""The topics of `npu-smi info -t`, for outputs whose command is not shown."""

from __future__ import annotations

# The topic of a block that no command names, told by a label that only this topic prints.
TOPICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("board", ("Software Version", "PCI Vendor ID", "Chip Type", "PCB ID", "Main Board ID")),
    ("health", ("Health Status", "Error Code", "Error Information")),
    ("common", ("Aicore Freq(MHZ)", "Aicore Count", "Memory Usage Rate(%)")),
    ("usages", ("DDR Usage Rate(%)", "Ctrlcpu Usage Rate(%)", "Aicpu Usage Rate(%)",
                "DDR Bandwidth Usage Rate(%)", "HBM Bandwidth Usage Rate(%)")),
    ("memory", ("DDR Clock Speed(MHz)", "HBM Clock Speed(MHz)", "HBM Manufacturer ID")),
    ("ecc", ("HBM Single Bit Error Count", "DDR Single Bit Error Count",
             "HBM Double Bit Error Count", "DDR Double Bit Error Count")),
    ("sensors", ("Soc Max Temperature (C)", "NDIE Temperature (C)")),
    ("ecc-enable", ("HBM ECC-Enable Status", "DDR ECC-Enable Status")),
    ("volt", ("Voltage(V)",)),
    ("flash", ("Flash Count", "Flash ID")),
    ("sys-log-info", ("Current syslog dump config recover mode",)),
    ("key-manage", ("service auto startup", "service running status")),
    ("sio-info", ("TX Error Count", "RX Error Count")),
    ("sys-time", ("System Time(local)",)),
    ("tls-cert-period", ("Certificate validity period",)),
    ("tls-cert", ("Alarm status", "Common name")),
    ("current-fault-event", ("Fault Event Count",)),
    ("phyid-remap", ("Chip Phy-ID",)),
    ("temp", ("NPU Temperature (C)", "Temperature (C)")),
)  # fmt: skip
