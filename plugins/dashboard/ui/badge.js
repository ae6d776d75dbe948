// The tab of the browser: the title of the page, and how many new things wait there.

const SIZE = 64;
const MOST = 99;

let count = 0;
let plain = null;

const titled = (title) => (count ? `(${count > MOST ? `${MOST}+` : count}) ${title}` : title);

let title = document.title;

/** Name the page in the tab. */
export function entitle(text) {
  title = text;
  document.title = titled(title);
}

/** Show in the tab that so many new things wait, in the title and on the icon; none with 0. */
export async function badge(waiting) {
  if (waiting === count) return;
  count = waiting;
  document.title = titled(title);
  const icon = document.querySelector("link[rel=icon]");
  plain ??= icon.href;
  const drawn = count ? await draw() : plain;
  icon.href = drawn;
}

async function draw() {
  const image = new Image(SIZE, SIZE);
  image.src = plain;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SIZE, height: SIZE });
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0, SIZE, SIZE);
  const text = count > MOST ? `${MOST}+` : String(count);
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
