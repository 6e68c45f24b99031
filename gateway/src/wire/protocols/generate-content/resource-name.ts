/** `models/<id>`, unless the name has its collection already (`tunedModels/x`). */
export function resourceName(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}
