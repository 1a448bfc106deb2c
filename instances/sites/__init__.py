"""Readers of the description of a machine: files of Slurm and PBS, ``site.toml``, and what a log tells of it."""

from .draft import SiteError
from .read import read_site
from .site_toml import site_text, write_site

__all__ = ["SiteError", "read_site", "site_text", "write_site"]
