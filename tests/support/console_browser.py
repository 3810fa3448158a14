"""What every browser test of the console does."""

from playwright.sync_api import Page


def sign_in(page: Page, token: str) -> None:
    """Sign in by the form, and end on the overview."""
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
