"""Judges the logs of evaluations, training runs and deployments: verdict, reasons, causes."""
