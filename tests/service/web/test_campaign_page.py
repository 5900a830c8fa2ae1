"""Campaign page and list in a browser: contents, updates, buttons, keyboard, narrow screens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import Event as Gate

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from support import live_service
from support.browser import PHONE, ApiClient, create, open_browser, open_page, overflow
from support.live_service import in_thread
from support.waiting import PATIENCE, wait_until

from almoner.live.reports.report import ActionReport
from almoner.service import background
from almoner.service.demo import NAME
from almoner.service.web.borrowing import rewards_counted
from almoner.store import open_store


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('pages') / 'page.db'}")
    with in_thread(store) as url:
        yield url
    store.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    with open_page(browser, url) as page:
        page.clock.install()
        yield page


def two_seconds_pass(page: Page) -> None:
    """Let the page's own clock pass the time between two updates."""
    page.clock.fast_forward(2_100)


def figure(page: Page, term: str) -> str:
    """Return a headline figure."""
    entry = page.locator(".figures > div", has=page.get_by_text(term, exact=True))
    return entry.locator("dd").first.inner_text()


def test_the_list_says_how_each_campaign_is_doing(page: Page, url: str) -> None:
    name = create(url, name="in the list", actions={"coupon": 1.0}, horizon=100, budget=200)
    with ApiClient(url, name) as api:
        for decision in api.decide_many(["returning"] * 20):
            if decision["action"]:
                api.settle(decision["id"], decision["reserved"])
    page.goto("/")
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=name))
    expect(row).to_contain_text("running")
    expect(row).to_contain_text("Spending 10 % behind the straight line.")
    expect(row).to_contain_text("20 of 100")
    expect(row.get_by_role("img")).to_have_accessible_name(
        "Of the budget of 200, 20 is spent, 0 reserved and 180 left to reserve."
    )
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.get_by_role("link", name="New campaign").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New campaign")


def test_a_first_start_shows_a_notice_and_then_the_demonstration(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(background, "warm_up", gate.wait)
    monkeypatch.setattr(live_service, "wait_until_ready", lambda url: None)
    with in_thread(demo=True) as url, open_page(browser, url) as page:
        try:
            page.clock.install()
            page.goto("/")
            notice = page.locator("#starting")
            expect(notice).to_have_text(
                "The demonstration campaign is being prepared. "
                "The first start compiles the kernels: about half a minute, once."
            )
            expect(page.get_by_text("There is no campaign yet")).to_have_count(0)
            switch = page.get_by_label("Updates every 2 seconds")
            switch.focus()
            with page.expect_response(url + "/"):
                two_seconds_pass(page)
            expect(notice).to_be_visible()
        finally:
            gate.set()
        wait_until(lambda: NAME in httpx.get(url, timeout=PATIENCE).text, "the campaign is listed")
        two_seconds_pass(page)
        expect(page.get_by_role("link", name=NAME)).to_be_visible()
        expect(notice).to_have_count(0)
        expect(switch).to_be_focused()


def test_an_empty_list_shows_the_first_campaign_by_itself(browser: Browser) -> None:
    with in_thread() as url, open_page(browser, url) as page:
        page.clock.install()
        page.goto("/")
        expect(page.get_by_text("There is no campaign yet.")).to_be_visible()
        expect(page.locator("#starting")).to_have_count(0)
        name = create(url, name="the first")
        two_seconds_pass(page)
        expect(page.get_by_role("link", name=name)).to_be_visible()
        expect(page.get_by_text("There is no campaign yet.")).to_have_count(0)


def test_a_decision_shows_up_by_itself(page: Page, url: str) -> None:
    name = create(url, name="live")
    page.goto(f"/campaigns/{name}")
    expect(page.get_by_text("Nothing has been decided yet.")).to_be_visible()
    expect(page.get_by_text("Nobody has come yet; 1,500 is for 1,000 arrivals.")).to_be_visible()
    with ApiClient(url, name) as api:
        decision = api.decide("returning")
        two_seconds_pass(page)
        row = page.locator(f"#decision-{decision['id']}")
        expect(row).to_contain_text("returning")
        expect(row).to_contain_text(decision["action"])
        expect(row).to_contain_text("none yet")
        expect(page.get_by_text("1 of 1,000 arrivals have come")).to_be_visible()
        assert figure(page, "Reserved") == f"{decision['reserved']:.0f}"
        api.settle(decision["id"], 1.0)
        api.reward(decision["id"], 1.0)
        two_seconds_pass(page)
        expect(row.get_by_role("cell").last).to_have_text("1")
        assert (figure(page, "Reserved"), figure(page, "Spent")) == ("0", "1")
        later = api.decide("newcomer")
        two_seconds_pass(page)
        rows = page.get_by_role("table", name="The latest decisions").locator("tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text(str(later["id"]))
        moves = "row => getComputedStyle(row.firstElementChild).animationName"
        assert rows.first.evaluate(moves) == "arrive"
        page.emulate_media(reduced_motion="reduce")
        assert rows.first.evaluate(moves) == "none"


def test_reserved_money_frees_when_it_is_settled(page: Page, url: str) -> None:
    actions = {"call": {"cost": 0.7, "reserve": 5.0}}
    name = create(url, name="reserving", budget=6, unit=0.1, actions=actions)
    with ApiClient(url, name) as api:
        decision = api.decide("newcomer")
        api.decide("returning")
        page.goto(f"/campaigns/{name}")
        notice = page.locator(".notice")
        expect(notice).to_have_text(
            "Nothing can be given out now: 5.00 is reserved for open decisions (expected to cost "
            "0.70), and the 1.00 left is less than the 5.00 that the cheapest action reserves. It "
            "frees as bills are settled."
        )
        assert (figure(page, "Reserved"), figure(page, "Left to reserve")) == ("5.00", "1.00")
        api.settle(decision["id"], 0.0)
        two_seconds_pass(page)
        expect(notice).to_have_count(0)
        assert (figure(page, "Reserved"), figure(page, "Left to reserve")) == ("0.00", "6.00")


def test_updates_leave_the_reader_alone(page: Page, url: str) -> None:
    name = create(url, name="undisturbed")
    page.goto(f"/campaigns/{name}")
    summary = page.locator("#chart-spend summary")
    summary.click()
    with ApiClient(url, name) as api:
        last = api.decide_many(["newcomer", "returning"] * 3)[-1]
        two_seconds_pass(page)
        expect(page.locator(f"#decision-{last['id']}")).to_be_visible()
        expect(summary).to_be_focused()
        table = page.get_by_role("table", name="Spend against the straight line")
        expect(table.get_by_role("columnheader")).to_have_text(
            ["Arrivals", "Spent", "Or expected", "Straight line"]
        )
        expect(table.get_by_role("row").last).to_contain_text("9")  # 6 of 1,000, of 1,500
        page.get_by_label("Updates every 2 seconds").uncheck()
        api.decide("newcomer")
        two_seconds_pass(page)
        expect(page.get_by_text("6 of 1,000 arrivals have come")).to_be_visible()
        page.get_by_label("Updates every 2 seconds").check()
        expect(page.get_by_text("7 of 1,000 arrivals have come")).to_be_visible()


def test_nothing_is_fetched_while_the_tab_is_hidden(page: Page, url: str) -> None:
    page.goto(f"/campaigns/{create(url, name='hidden')}")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    hide = """hidden => {
        Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    page.clock.fast_forward(60_000)
    assert not [address for address in requests if address.endswith("/campaigns/hidden")]
    with page.expect_response("**/campaigns/hidden"):
        page.evaluate(hide, False)


def test_charts_are_drawn_with_captions_and_legends(page: Page, url: str) -> None:
    name = create(url, name="charts", horizon=60, budget=90)
    with ApiClient(url, name) as api:
        for decision in api.decide_many(["newcomer", "returning", "returning"] * 10):
            if decision["action"]:
                api.settle(decision["id"], decision["reserved"])
                api.reward(decision["id"], float(decision["context"] == "returning"))
    page.goto(f"/campaigns/{name}")
    inked = """canvas => {
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, index) => index % 4 === 3 && value > 0).length;
    }"""
    canvases = page.locator("canvas")
    expect(canvases).to_have_count(3)
    assert all(canvas.evaluate(inked) > 1_000 for canvas in canvases.all())
    for chart, caption in [
        ("spend", "After 30 of 60 arrivals"),
        ("reward", "promised by now"),
        ("ratio", "neither spent nor expected to be; it was 1.50 at the start"),
    ]:
        drawing = page.locator(f"[data-chart={chart}]")
        expect(drawing).to_have_role("img")
        assert caption in str(
            drawing.evaluate("chart => chart.ariaLabelledByElements[0].innerText")
        )
        legend = page.locator(f"#chart-{chart} .legend")
        assert "–" not in legend.inner_text(), "the values of now are in the legend"
    line = page.locator("#chart-spend [data-value=line]")
    page.locator("#chart-spend .u-over").hover(position={"x": 400, "y": 20})
    far = float(line.inner_text())
    page.get_by_label("Charts up to now only").check()
    page.locator("#chart-spend .u-over").hover(position={"x": 401, "y": 20})
    assert float(line.inner_text()) < far, "the same position is earlier in a chart that ends now"
    page.locator("h1").hover()
    before = line.inner_text()
    page.locator("#chart-spend .u-over").hover(position={"x": 5, "y": 20})
    expect(line).not_to_have_text(before)


def test_estimates_of_each_pair_are_drawn_and_written(page: Page, url: str) -> None:
    name = create(url, name="pairs")
    with ApiClient(url, name) as api:
        for decision in api.decide_many(["newcomer", "returning"] * 20):
            if decision["action"]:
                api.reward(decision["id"], float(decision["id"] % 2))
    page.goto(f"/campaigns/{name}")
    table = page.get_by_role("table", name="Counts, mean reward")
    expect(table.get_by_role("row")).to_have_count(1 + 4)
    expect(table.locator("svg.whisker")).to_have_count(4)
    report = httpx.get(f"{url}/api/campaigns/{name}/report", timeout=PATIENCE).json()
    for context in report["contexts"]:
        for action in context["actions"]:
            if action["mean"] is not None:
                row = table.get_by_role("row").filter(has_text=f"{action['mean']:.3f}")
                expect(row.first).to_contain_text(f"({action['low']:.3f}–{action['high']:.3f})")
                words = rewards_counted(ActionReport(**action)).replace("\N{NO-BREAK SPACE}", " ")
                expect(row.first).to_contain_text(f"{action['pooled']:.3f} {words}")
    expect(table.locator("svg.diamond")).to_have_count(4)
    expect(table.get_by_role("columnheader", name="Estimate")).to_be_visible()
    served = page.locator(".served li")
    expect(served).to_have_count(2)
    for row, context in zip(served.all(), report["contexts"], strict=True):
        expect(row).to_contain_text(context["context"])
        expect(row).to_contain_text(f"{context['served']:.0%}".replace("%", " % served"))


def test_the_table_of_estimates_fits_every_window(page: Page, url: str) -> None:
    """With five-figure costs and borrowed rewards, whose column makes it one wider."""
    actions = {"free shipping": 1.5, "15 percent off": {"cost": 6.0, "reserve": 12_345.0}}
    name = create(url, name="windows", actions=actions, budget=50_000)
    with ApiClient(url, name) as api:
        decisions = api.decide_many(["newcomer", "returning"] * 60)
        for number, decision in enumerate(decisions[:14]):  # by more, predictions are judged
            if decision["action"]:
                api.reward(decision["id"], float(number % 7 == 0))
    page.goto(f"/campaigns/{name}")
    expect(page.locator("svg.diamond")).to_have_count(4)
    fits(page)
    terms = {"currency": "EUR", "after": name, "learn_cost": True}
    page.goto(f"/campaigns/{create(url, name='wider', actions=actions, budget=50_000, **terms)}")
    expect(page.locator("svg.diamond")).to_have_count(4)
    fits(page)


def fits(page: Page) -> None:
    section = page.locator("section", has=page.locator("#estimates-title"))
    for width in (320, 390, 700, 768, 800, 955, 962, 1000, 1100, 1160, 1200, 1300):
        page.set_viewport_size({"width": width, "height": 844})
        beyond = section.evaluate("section => section.scrollWidth - section.clientWidth")
        assert (beyond, overflow(page) > 0) == (0, False), width


def test_pausing_resuming_and_closing(page: Page, url: str) -> None:
    name = create(url, name="switched")
    page.goto(f"/campaigns/{name}")
    message = page.get_by_role("status")
    with ApiClient(url, name) as api:
        page.get_by_role("button", name="Pause").click()
        expect(message).to_have_text(
            "The campaign is paused: arrivals are skipped until it is resumed."
        )
        expect(page.locator("h1")).to_contain_text("paused")
        expect(page.get_by_role("button", name="Resume")).to_be_focused()
        assert api.decide("newcomer")["reason"] == "paused"
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("h1")).to_contain_text("running")
        assert api.decide("newcomer")["reason"] != "paused"

        page.get_by_role("button", name="Close").click()
        dialog = page.get_by_role("dialog", name="Close “switched” for good?")
        dialog.get_by_role("button", name="Keep it open").click()
        expect(dialog).to_be_hidden()
        expect(page.locator("h1")).to_contain_text("running")
        page.get_by_role("button", name="Close").click()
        dialog.get_by_role("button", name="Close for good").click()
        expect(page.locator("h1")).to_contain_text("closed")
        assert api.decide("newcomer")["reason"] == "closed"
    expect(page.locator(".controls button:visible")).to_have_count(0)
    expect(page.get_by_text("only settlements and rewards are still taken")).to_be_visible()


def test_an_error_is_shown_with_the_message_of_the_service(browser: Browser, url: str) -> None:
    name = create(url, name="closed elsewhere")
    with open_page(browser, url, expected=("409",)) as page:
        page.clock.install()
        page.goto(f"/campaigns/{name}")
        httpx.post(f"{url}/api/campaigns/{name}/close", timeout=PATIENCE).raise_for_status()
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("status")).to_have_text(
            "the campaign is closed for good; open another one"
        )


def test_a_service_that_stops_is_noticed_and_so_is_its_return(browser: Browser, url: str) -> None:
    name = create(url, name="interrupted")
    with open_page(browser, url, expected=("ERR_FAILED", "Failed to load")) as page:
        page.clock.install()
        page.goto(f"/campaigns/{name}")
        page.route("**/campaigns/interrupted", lambda route: route.abort())
        two_seconds_pass(page)
        expect(page.get_by_role("status")).to_have_text(
            "The service does not answer, so these figures are old; still trying."
        )
        page.unroute("**/campaigns/interrupted")
        two_seconds_pass(page)
        expect(page.get_by_role("status")).to_have_text("The service answers again.")


def test_a_campaign_that_does_not_exist_is_a_page_with_a_sentence(
    browser: Browser, url: str
) -> None:
    with open_page(browser, url, expected=("404",)) as page:
        page.goto("/campaigns/nowhere")
        expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        expect(page.locator("main")).to_contain_text("There is no campaign 'nowhere'")
        page.get_by_role("link", name="All campaigns").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")


def test_a_name_is_only_ever_text(page: Page, url: str) -> None:
    name = create(url, name='<img src=x onerror="alert(1)"> & 100% "done"?')
    page.goto("/")
    page.get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1")).to_contain_text("paused")


def test_names_do_not_change_the_direction_of_the_text_beside_them(page: Page, url: str) -> None:
    """A Hebrew name would draw the number after it to its left; U+202E would reverse the rest."""
    contexts = ["\u05e9\u05dc\u05d5\u05dd", "\u202eevil", "\u2069\u202eworse"]
    name = create(url, name="\u05d7\u05d5\u05e8\u05e3 7", contexts=contexts)
    with ApiClient(url, name) as api:
        api.decide_many(contexts * 2)
    page.goto(f"/campaigns/{name}")
    positions = """element => {
        const range = document.createRange(), walker = document.createTreeWalker(element, 4);
        const lefts = [];
        while (walker.nextNode()) {
            const { data } = walker.currentNode;
            for (let index = 0; index < data.length; index += 1) {
                if (!data[index].trim()) continue;
                range.setStart(walker.currentNode, index);
                range.setEnd(walker.currentNode, index + 1);
                lefts.push(range.getBoundingClientRect().left);
            }
        }
        return lefts;
    }"""
    notes = page.locator(".served .of")
    expect(notes).to_have_count(3)
    for note in notes.all():
        left_to_right = note.evaluate(positions)
        assert left_to_right == sorted(left_to_right), note.inner_text()
        assert max(note.locator("xpath=..").locator("bdi").evaluate(positions)) < left_to_right[0]
    expect(page.locator(".served bdi").last).to_have_text(r"\u2069\u202eworse")
    hebrew = page.locator(".served bdi").first.evaluate(positions)
    assert hebrew == sorted(hebrew, reverse=True), "the name itself is written right to left"


def test_nothing_scrolls_sideways_on_a_phone(browser: Browser, url: str) -> None:
    create(url, name="phone", contexts=["newcomer", "a-very-long-context-name-" * 6])
    with open_page(browser, url, viewport=PHONE, reduced_motion="reduce") as page:
        for path in ("/", "/campaigns/phone", "/new", "/docs", "/sign-in"):
            page.goto(path)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            page.locator("details").evaluate_all(
                "all => all.forEach(details => (details.open = true))"
            )
            assert overflow(page) <= 0, path


def test_all_of_it_works_from_the_keyboard(page: Page, url: str) -> None:
    name = create(url, name="by keyboard")
    page.goto(f"/campaigns/{name}")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    focused = page.locator(":focus")
    for _ in range(3):
        page.keyboard.press("Tab")
        if focused.inner_text() == "Pause":
            break
    expect(focused).to_have_text("Pause")
    ring = focused.evaluate("button => getComputedStyle(button).outlineStyle")
    assert ring == "solid", "the keyboard focus is visible"
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("paused")
    expect(focused).to_have_text("Resume")
    page.keyboard.press("Tab")
    expect(focused).to_have_text("Edit")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(focused).to_have_text("Keep it open")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_contain_text("paused")
    expect(focused).to_have_text("Close…")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("closed")


def test_pages_are_complete_without_javascript(browser: Browser, url: str) -> None:
    name = create(url, name="no scripts")
    with ApiClient(url, "no%20scripts") as api:
        api.decide_many(["newcomer", "returning"] * 5)
    with open_page(browser, url, java_script_enabled=False) as page:
        page.goto("/")
        expect(page.get_by_label("Updates every 2 seconds")).to_be_hidden()
        expect(page.locator(".notice")).to_contain_text("does not update by itself: reload it.")
        page.get_by_role("link", name=name).click()
        expect(page.locator(".lead")).to_contain_text("10 of 1,000 arrivals have come")
        expect(page.locator("#chart-spend")).to_contain_text("After 10 of 1,000 arrivals")
        for script_only in ("#live", "#so-far", ".controls button", ".canvas"):
            for part in page.locator(script_only).all():
                expect(part).to_be_hidden()
        expect(page.locator("#no-script-controls p")).to_contain_text(
            "Pausing and closing take JavaScript"
        )
        expect(page.locator(".notice")).to_contain_text("does not update by itself: reload it.")
        expect(page.locator(".notice")).to_contain_text("“Data as a table” below each has the num")
        page.locator("#chart-spend summary").click()
        table = page.get_by_role("table", name="Spend against the straight line")
        expect(table.get_by_role("row").last).to_contain_text("15")  # 10 of 1,000, of 1,500
        times = page.locator(".latest time").all_inner_texts()
        assert len(times) == 10
        assert all(re.fullmatch(r"\d\d:\d\d:\d\d UTC", time) for time in times)
        expect(page.get_by_role("table", name="The latest decisions")).to_contain_text("newcomer")
        page.get_by_role("link", name="New campaign").click()
        expect(page.locator(".notice")).to_contain_text("This form needs JavaScript.")
        expect(page.get_by_label("Budget", exact=True)).to_be_hidden()
        page.get_by_role("link", name="the API", exact=True).click()
        expect(page.locator("#post-api-campaigns")).to_contain_text("/api/campaigns")


def test_a_closing_time_has_its_zone_without_javascript(browser: Browser, url: str) -> None:
    horizon = {"at": "2099-12-31T23:30:00+02:00", "arrivals": 500}
    name = create(url, name="closing", horizon=horizon)
    with open_page(browser, url, java_script_enabled=False) as page:
        page.goto(f"/campaigns/{name}")
        expect(page.locator(".figures")).to_contain_text("until 2099-12-31 23:30 UTC+02:00")
    with open_page(browser, url) as page:
        page.goto(f"/campaigns/{name}")
        expect(page.locator(".figures")).to_contain_text("until 31 Dec 2099, 21:30")
        expect(page.locator(".notice")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 767, 900, 1440])
def test_ordinary_names_do_not_widen_the_page(browser: Browser, url: str, width: int) -> None:
    """Names of 60 characters, and one of 120 without a space."""
    context = "returning customers who have opened one of the last three newsletters"
    coupon = "a coupon of ten per cent off on everything in the shop"
    name = create(
        url,
        name=f"names {width}",
        contexts=["newcomer", context],
        actions={coupon: 5.0, "x" * 120: 1.0},
    )
    with ApiClient(url, name.replace(" ", "%20")) as api:
        api.decide_many([context, "newcomer"] * 3)
    with open_page(browser, url, viewport={"width": width, "height": 844}) as page:
        page.goto(f"/campaigns/{name}")
        table = page.get_by_role("table", name="By context and action")
        expect(table).to_contain_text(coupon)
        assert overflow(page) <= 0
        cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1).length"
        assert table.locator("tbody th, tbody td:not(.wide)").evaluate_all(cut) == 0


def test_a_long_list_of_contexts_does_not_stretch_the_panel_beside_it(
    browser: Browser, url: str
) -> None:
    name = create(url, name="many", contexts=[f"context {index}" for index in range(30)])
    with open_page(browser, url, viewport={"width": 1440, "height": 900}) as page:
        page.goto(f"/campaigns/{name}")
        served = page.get_by_role("region", name="Who the plan serves").bounding_box()
        beside = page.locator("#chart-ratio").bounding_box()
        assert served is not None
        assert beside is not None
        assert beside["y"] == served["y"]
        assert beside["height"] < served["height"] / 2


@pytest.mark.parametrize("width", [400, 1280])
def test_the_oldest_open_decisions_are_listed_with_their_number(
    browser: Browser, url: str, width: int
) -> None:
    coupon = {"cost": 1, "reserve": 5, "expires": "7 days"}
    name = create(url, name=f"open {width}", actions={"coupon": coupon}, horizon=99, currency="EUR")
    with (
        ApiClient(url, name) as api,
        open_page(browser, url, viewport={"width": width, "height": 800}) as page,
    ):
        ids = [decision["id"] for decision in api.decide_many(["returning"] * 25)]
        page.goto(f"/campaigns/{name}")
        section = page.get_by_role("region", name="Open decisions")
        expect(section).to_contain_text("25 decisions have money reserved")
        section.get_by_text("The 20 oldest of 25").click()
        rows = section.locator("tbody tr")
        expect(rows).to_have_count(20)
        expect(rows.first).to_contain_text("returning")
        expect(rows.first).to_contain_text("coupon")
        expect(rows.first).to_contain_text("5 EUR")
        expect(rows.first.locator("time")).to_have_count(2)
        assert overflow(page) <= 0
        for decision in ids[:6]:
            api.settle(decision, 5)
        expect(section).to_contain_text("All 19, oldest first")  # it updates by itself
        expect(rows.first).to_be_visible()
        expect(rows.first.get_by_role("rowheader")).to_have_text(str(ids[6]))
        for decision in ids[6:]:
            api.settle(decision, 5)
        expect(section).to_have_count(0)
