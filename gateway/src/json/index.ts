export { JsonCursor, keyBytes, textLength } from './cursor.ts';
export { holdsInexactNumbers } from './inexact-numbers.ts';
export { type ParsedObject, parseObject } from './parse-object.ts';
export { type JsonScan, type MemberRange, type ObjectRange, scanJson } from './scan.ts';
export { type Edit, insertMember, removeMember, replaceValue, splice } from './splice.ts';
export { type WatchedObject, watchList } from './watch-list.ts';
