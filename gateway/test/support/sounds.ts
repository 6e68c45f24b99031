/** A WAV file of silence: 8 kHz, mono, 8 bits. */
export function wave(seconds: number): Buffer {
  const rate = 8_000;
  const bytes = Math.round(seconds * rate);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + bytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.alloc(bytes, 0x80)]);
}

/** Frames of an MP3 file that last at least this long: MPEG 1, 128 kbit/s, 44.1 kHz. */
export function mp3(seconds: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xff_fb_90_64, 0);
  return Buffer.concat(Array.from({ length: Math.ceil(seconds / (1_152 / 44_100)) }, () => frame));
}
