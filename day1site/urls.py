"""Every route of the site."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from day1site import api, views

urlpatterns = [
    path("", views.home, name="home"),
    path("admin", RedirectView.as_view(pattern_name="admin:index", query_string=True)),
    path("admin/", admin.site.urls),
    path("api/v1", api.index),
    path("api/v1/", include(api.urls)),
    re_path("^api(?:/|$)", api.unknown_route),
]

handler400 = "day1site.views.bad_request"
handler404 = "day1site.views.page_not_found"
handler500 = "day1site.views.server_error"
