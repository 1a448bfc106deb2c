"""Readers of the description of a machine: files of Slurm and PBS, ``site.toml``, and what a log tells of it."""

from .draft import SiteError
from .of_log import PlacedJob, site_of_jobs, site_of_log
from .read import read_site
from .site_toml import site_text, write_site

__all__ = ["PlacedJob", "SiteError", "read_site", "site_of_jobs", "site_of_log", "site_text", "write_site"]
