/** A request names a fault in a header, in the model's name, or at the start of the path. */
const inModel = '+fault(';
const inPath = /^\/fault(?:\(|%28)(.*?)(?:\)|%29)(?=\/)/i;

/** `demo-chat+fault(status=529)` → the model without its suffix, and the fault's text. */
export function splitModel(name: string): { model: string; fault: string } {
  const whole = { model: name, fault: '' };
  if (!name.endsWith(')')) return whole;
  const start = name.indexOf(inModel, name.lastIndexOf(')', name.length - 2) + 1);
  if (start < 0) return whole;
  return { model: name.slice(0, start), fault: name.slice(start + inModel.length, -1) };
}

/** `/fault(status=529)/v1/messages` → the fault of every request to this base address. */
export function splitPath(path: string): { path: string; fault: string } {
  const match = inPath.exec(path);
  if (!match) return { path, fault: '' };
  const fault = (match[1] ?? '').replace(/%3[bd]/gi, decodeURIComponent);
  return { path: path.slice(match[0].length), fault };
}
