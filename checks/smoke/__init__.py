"""Smoke tests: does the stack compute, on the device that it claims, and rightly?"""
