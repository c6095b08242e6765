"""Several people, or several pages of one, before the same run of `fdc ui`."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from tests.cli.test_ui import Ui, fields, name_of, served, shop  # noqa: F401

FORMS = 6


def messages(page: str) -> list[str]:
    return re.findall(r'<p class="message said">(.*?)</p>', page, re.DOTALL)


def test_of_forms_at_the_same_time_one_counts_and_each_hears_its_own(
    served: Ui,  # noqa: F811
) -> None:
    name = name_of(served.workspace)
    path = f"/runs/{name}/answer"
    form = fields(served.get(f"/runs/{name}"))
    with ThreadPoolExecutor(FORMS) as pool:
        sent = pool.map(lambda n: served.form(path, {**form, "text": f"answer {n}"}), range(FORMS))
        places = [one.headers["Location"] for one in sent]
    assert not messages(served.get(f"/runs/{name}")), "a page that sent no form hears nothing"
    told = [messages(served.get(place)) for place in places[::-1]][::-1]
    stored = [number for number, said in enumerate(told) if "is stored." in said[0]]
    assert len(stored) == 1
    for number, said in enumerate(told):
        if number != stored[0]:
            assert said[0].endswith(f"Your answer was: answer {number}"), said
    assert f"not used yet: <b>answer {stored[0]}</b>" in served.get(f"/runs/{name}")
    assert not messages(served.get(places[0])), "once"


def test_a_query_of_many_parts_is_no_error(served: Ui) -> None:  # noqa: F811
    many = "&".join(f"a{n}=1" for n in range(99))
    assert served.ask("GET", f"/?{many}").status == 200
    assert served.ask("GET", f"/?{many}", cookie=False).status == 401
