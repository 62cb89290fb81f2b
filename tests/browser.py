"""A real browser for tests of the report: Chromium, driven as people drive it."""

import shutil

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="no browser: install Chromium and its driver (apt-get install chromium chromium-driver)",
)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def start_browser(profile):
    """Start a browser with a profile of its own, in a folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


class Window:
    """A report in the browser."""

    def __init__(self, driver, path, width=1200, scheme="light"):
        self.driver = driver
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        driver.get(path.as_uri())

    def find(self, selector):
        """Return the one element."""
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        """Return all such elements."""
        return self.driver.find_elements("css selector", selector)

    def text(self, selector):
        """Return what is to be read."""
        return self.find(selector).text

    def texts(self, selector):
        """Return what is to be read in each element, also out of sight."""
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return self.driver.execute_script(script, selector)

    def click(self, selector):
        """Click with the mouse."""
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center'})", self.find(selector)
        )
        self.find(selector).click()

    def choose(self, selector, text):
        """Choose an entry of a drop-down list."""
        from selenium.webdriver.support.ui import Select

        Select(self.find(selector)).select_by_visible_text(text)

    def write(self, selector, text):
        """Type into a field, over what is there, and press Enter."""
        from selenium.webdriver.common.keys import Keys

        self.find(selector).send_keys(Keys.CONTROL, "a", Keys.NULL, text, Keys.ENTER)

    def evaluate(self, script, *args):
        """Return what a script returns."""
        return self.driver.execute_script(script, *args)

    def complaints(self):
        """Return what is in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]
