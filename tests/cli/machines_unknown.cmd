$W machines --show dgx-a10
