/** `models/<id>`, unless the name has a collection (`tunedModels/x`). */
export function resourceName(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}
