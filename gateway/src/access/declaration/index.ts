export {
  applyDeclaration,
  createDefaultGroup,
  DeclarationConflict,
  EarlierFile,
  earlierFile,
} from './apply.ts';
export { type FileRevision, laterFile, putInForce } from './file-revisions.repository.ts';
export { exportKey, exportState, writeEntry } from './export.ts';
export { compact, Placeholder, toFileText, createVariableNames } from './file-text.ts';
export { compareFields, type FieldChange, fieldsOf, type ShownOf } from './fields.ts';
export { type Plan, planDeclaration, type PlanStep } from './plan.ts';
export { type CurrentState, lockDeclaration, readState, readStateFor } from './state.repository.ts';
