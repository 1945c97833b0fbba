"""The picture of what grows with a memory shows the figures of the bench."""

import xml.etree.ElementTree as ET

from growth_picture import CURVES, picture, points_of


def test_each_curve_shows_its_smallest_and_largest_size_with_their_values() -> None:
    figures: list[dict[str, object]] = [{"name": "ingest", "value": 5.0}]
    for curve, unit, *_words in CURVES:
        for size, value in ((200_000, 2_500.4), (2_000, 1.25), (20_000, 40.0)):
            name = f"growth: {curve} at {size} {unit}"
            figures.append({"name": name, "value": value})
    root = ET.fromstring(picture(points_of(figures)))  # noqa: S314  # our own
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for words in ("1.25", "2,500", "2,000 notes", "200,000 lines"):
        assert words in texts
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3, 3]
