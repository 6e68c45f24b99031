/** Endings that are not the second half of the media type. */
const endings: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/javascript': 'js',
  'text/x-python': 'py',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
};

/** A name for a file that has none: OpenAI tells by its ending what an inline file is. */
export function fileName(mime: string): string {
  const type = mime.toLowerCase().split(';', 1)[0]?.trim() ?? '';
  return `file.${endings[type] ?? type.split('/')[1] ?? 'bin'}`;
}
