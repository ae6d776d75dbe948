"""The pages of the site."""

from django.urls import include, path
from django.views.generic import TemplateView

from shop.logs import service
from snaglist.hosting import django_urls

urlpatterns = [
    path("", TemplateView.as_view(template_name="home.html"), name="home"),
    path("accounts/", include("django.contrib.auth.urls")),
    path("logs/", include(django_urls(service))),
]
