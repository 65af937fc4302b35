"""Every route of the site."""

from django.contrib import admin
from django.urls import path

from day1site import views

urlpatterns = [
    path("", views.home, name="home"),
    path("admin/", admin.site.urls),
    # The routes of /api/v1 belong here, above this one: their health view then takes its place.
    path("api/v1/health", views.health),
]

handler404 = "day1site.views.page_not_found"
handler500 = "day1site.views.server_error"
