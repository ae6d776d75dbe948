// The icon of the browser's tab with a number on it.

const SIZE = 64;
const MOST = 99;

let plain = null;
let last = 0;

/** Show the icon with a number, or plain with 0; when an icon cannot be drawn, plain too. */
export async function drawIcon(count) {
  const icon = document.querySelector("link[rel=icon]");
  plain ??= icon.href;
  last = count;
  const drawn = count ? await draw(count > MOST ? `${MOST}+` : String(count)).catch(() => plain) : plain;
  if (last === count) icon.href = drawn; // another number may have come meanwhile
}

async function draw(text) {
  const image = new Image(SIZE, SIZE);
  image.src = plain;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0, SIZE, SIZE);
  const width = 22 + 14 * text.length;
  pen.fillStyle = "#b3261e";
  pen.beginPath();
  pen.roundRect(SIZE - width, SIZE - 38, width, 38, 19);
  pen.fill();
  pen.fillStyle = "#fff";
  pen.font = "bold 30px sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, SIZE - width / 2, SIZE - 18);
  return canvas.toDataURL("image/png");
}
