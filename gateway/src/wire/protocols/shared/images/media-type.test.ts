import { expect, it } from 'vitest';
import { fileName } from './media-type.ts';

it.each([
  ['text/plain', 'file.txt'],
  ['Text/Markdown; charset=utf-8', 'file.md'],
  ['application/pdf', 'file.pdf'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'file.docx'],
  ['strange', 'file.bin'],
])('a file of %s without a name is %s', (mime, name) => {
  expect(fileName(mime)).toBe(name);
});
