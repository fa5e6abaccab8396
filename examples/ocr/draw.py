"""Draws a picture with lines of text whose font, size and slight rotation vary: what the quickstart reads.

    python examples/ocr/draw.py PICTURE.png [--seed N]      prints the lines, top to bottom, as it draws them
"""
import argparse
import pathlib
import random

from PIL import Image, ImageDraw, ImageFont

TEXTS = [
    "Dougong 2026", "Brackets carry the roof", "One stack, every layer", "Invoice No. 40718", "Total: 1,284.50 EUR",
    "Platform 9, departs 14:35", "Read me if you can", "Model, kernel, machine", "Keep dry and cool", "Made without nails",
    "Open Monday to Friday", "www.example.org", "Room 205 - second floor", "Best before 31.12.2027",
]
FONTS = [
    "dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "dejavu/DejaVuSerif.ttf",
    "liberation/LiberationSans-Regular.ttf", "liberation/LiberationSerif-Regular.ttf", "liberation/LiberationSans-Bold.ttf",
]
FONT_FOLDER = pathlib.Path("/usr/share/fonts/truetype")


def draw(seed: int, width: int = 640, height: int = 640, lines: int = 7) -> tuple[Image.Image, list[str]]:
    """The picture (RGB) and the lines on it, top to bottom. The same seed draws the same picture."""
    chance = random.Random(seed)
    picture = Image.new("RGB", (width, height), (250, 248, 240))
    texts = chance.sample(TEXTS, lines)
    pitch = height / (lines + 0.5)
    for row, text in enumerate(texts):
        font = ImageFont.truetype(str(FONT_FOLDER / chance.choice(FONTS)), chance.randint(26, 38))
        top, bottom = font.getbbox(text)[1::2]
        gap = font.size * 0.45  # between words: wide enough to be read as a space
        width_of_text = sum(font.getlength(word) for word in text.split()) + gap * (len(text.split()) - 1)
        line = Image.new("RGBA", (int(width_of_text) + 16, bottom - top + 16), (0, 0, 0, 0))
        ink = (chance.randint(0, 70), chance.randint(0, 70), chance.randint(0, 90), 255)
        x = 8.0
        for word in text.split():
            ImageDraw.Draw(line).text((x, 8 - top), word, font=font, fill=ink)
            x += font.getlength(word) + gap
        line = line.rotate(chance.uniform(-3, 3), expand=True, resample=Image.Resampling.BICUBIC)
        if line.width > width - 20:
            line = line.resize((width - 20, line.height * (width - 20) // line.width), Image.Resampling.BICUBIC)
        x = chance.randint(10, max(10, width - line.width - 10))
        y = int(pitch * (row + 0.75) - line.height / 2)
        picture.paste(line, (x, y), line)
    return picture, texts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draws a picture with lines of text, and prints the lines.")
    parser.add_argument("picture", type=pathlib.Path, help="the PNG file to write")
    parser.add_argument("--seed", type=int, default=8, help="another number draws another picture (default 8)")
    arguments = parser.parse_args()
    picture, texts = draw(arguments.seed)
    picture.save(arguments.picture)
    print("\n".join(texts))
