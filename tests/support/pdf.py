"""PDFs made by hand: a page for each text, a line for each of its lines."""

from __future__ import annotations

from collections.abc import Sequence


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF with a text on each page."""
    parts: list[bytes] = []
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        shown = [
            line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            for line in text.split("\n")
        ]
        moves = " T* ".join(f"({line}) Tj" for line in shown)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {moves} ET".encode("latin-1")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects.append(f"<< /Title ({title}) >>".encode())
    out = b"%PDF-1.4\n"
    for number, body in enumerate(objects, 1):
        parts.append(b"%010d 00000 n \n" % len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(parts)
    last = len(objects)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (last + 1, last)
    return out + table + trailer + b"startxref\n%d\n%%%%EOF\n" % len(out)
