export { type Budget, draw, drawJson, holdsMoreThan, openBudget } from './budget.ts';
export { JsonCursor, keyBytes, textLength } from './cursor.ts';
export { replaceHalfCharacters } from './half-characters.ts';
export { holdsInexactNumbers } from './inexact-numbers.ts';
export { LongText, parseWithLongTexts, writeJson, writeJsonPieces } from './long-text.ts';
export {
  elementsAt,
  type Ends,
  type KeyedRange,
  membersAt,
  objectStart,
  type Range,
  removeMembers,
  replaceKey,
  refuseRepeatedMembers,
} from './members.ts';
export { outlineOf, parseOutline } from './outline.ts';
export { PieceOutline, Utf8Check } from './piece-outline.ts';
export { type FoundValue, MalformedJson, PieceScan, type WatchedPath } from './piece-scan.ts';
export {
  duplicateKey,
  type JsonScan,
  type MemberRange,
  type ObjectRange,
  type ParsedObject,
  parseObject,
  type ParseRoom,
  scanJson,
  type WatchedObject,
  watchList,
} from './scan.ts';
export {
  type Edit,
  insertMember,
  removeMember,
  replaceValue,
  splice,
  splicePieces,
} from './splice.ts';
export { maxDepth, skipSpace, skipValue } from './skip.ts';
