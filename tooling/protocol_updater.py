"""Changes one field of one protocol source; the only way by which programs change protocols.

    python3 tooling/protocol_updater.py add-tool --protocol-id ID --tool-name TOOL
    python3 tooling/protocol_updater.py deprecate-tool --protocol-id ID --tool-name TOOL
    python3 tooling/protocol_updater.py update-rule --protocol-id ID --rule-id RULE --description TEXT

Doing it twice changes nothing the second time. What would make the source invalid is refused, and
nothing else in the file moves.
"""

from fdc_toolchain.cli.scripts.protocol_updater import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
