/**
 * Whether an image model is one of several images or layers, by its capabilities: it draws in layers, or from references
 * without editing. Such models take and give addresses, and never stream.
 */
export function isReferenceModel(capabilities: ReadonlySet<string>): boolean {
  if (capabilities.has('layers')) return true;
  return capabilities.has('multi_reference') && !capabilities.has('edits');
}
