"""Addresses of OAuth. Those below /.well-known are fixed by the standards."""

from django.urls import path, re_path

from day1site.oauth import metadata, views

KNOWN = r"^\.well-known/"
urlpatterns = [
    re_path(KNOWN + r"oauth-protected-resource(?P<path>(?:/.*)?)$", metadata.describe_resource),
    # By the second address programs find the document below a proxy's path, where the first is not Day1's.
    re_path(
        KNOWN + r"(?:oauth-authorization-server|openid-configuration)(?P<path>(?:/.*)?)$",
        metadata.describe_server,
    ),
    path("oauth/authorize", views.Authorize.as_view(), name="oauth-authorize"),
    path("oauth/token", views.token, name="oauth-token"),
    path("oauth/revoke", views.revoke, name="oauth-revoke"),
    path("oauth/register", views.register, name="oauth-register"),
]
