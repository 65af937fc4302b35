"""Every route of the site."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView, TemplateView
from django.views.i18n import set_language

from day1site import account, api

urlpatterns = [
    path("", account.front, name="front"),
    path("projects", account.projects, name="projects"),
    path("p/<slug:slug>", RedirectView.as_view(pattern_name="home", query_string=True)),
    path("p/<slug:slug>/", include("memory.urls")),
    path("login", account.Login.as_view(), name="login"),
    path("logout", account.Logout.as_view(), name="logout"),
    path("account", account.account, name="account"),
    path("account/password", account.Password.as_view(), name="password"),
    path("theme", account.theme, name="theme"),
    path("language", set_language, name="language"),
    path("help", TemplateView.as_view(template_name="help.html"), name="help"),
    path("admin", RedirectView.as_view(pattern_name="admin:index", query_string=True)),
    path("admin/", admin.site.urls),
    path("api/v1", api.index),
    path("api/v1/", include(api.urls)),
    re_path("^api(?:/|$)", api.unknown_route),
]

handler400 = "day1site.views.bad_request"
handler403 = "day1site.views.forbidden"
handler404 = "day1site.views.page_not_found"
handler500 = "day1site.views.server_error"
