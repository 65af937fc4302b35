"""Modules that declare or register something are found by where they are; no list names them."""

from importlib import import_module
from pkgutil import walk_packages

from django.apps import apps
from django.utils.module_loading import module_has_submodule


def import_modules(package: str) -> None:
    """Import every module of a package and of its folders, or the module itself."""
    path = getattr(import_module(package), "__path__", [])
    for module in walk_packages(path, f"{package}."):
        import_module(module.name)


def import_from_apps(module: str) -> None:
    """Import every module at this place of each app, such as ``engines.fields``."""
    for app in apps.get_app_configs():
        if app.module and module_has_submodule(app.module, module):
            import_modules(f"{app.name}.{module}")
