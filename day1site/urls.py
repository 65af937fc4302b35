"""Every route of the site."""

from django.contrib import admin
from django.urls import include, path, re_path

from day1site import api, views

urlpatterns = [
    path("", views.home, name="home"),
    path("admin/", admin.site.urls),
    path("api/v1/", include(api.urls)),
    re_path("^api/", api.unknown_route),
]

handler400 = "day1site.views.bad_request"
handler404 = "day1site.views.page_not_found"
handler500 = "day1site.views.server_error"
