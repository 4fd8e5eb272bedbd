"""Plugins of Paddle's custom devices that are installed beside paddle."""

from . import loopback

__all__ = ["loopback"]
