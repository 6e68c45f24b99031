export { type Budget, draw, drawJson, openAnswerBudget, openBudget } from './budget.ts';
export { JsonCursor, keyBytes, textLength } from './cursor.ts';
export { holdsInexactNumbers } from './inexact-numbers.ts';
export { type ParsedObject, parseObject, type ParseRoom } from './parse-object.ts';
export { refuseRepeatedMembers } from './repeated-members.ts';
export { type JsonScan, type MemberRange, type ObjectRange, scanJson } from './scan.ts';
export { type Edit, insertMember, removeMember, replaceValue, splice } from './splice.ts';
export { type WatchedObject, watchList } from './watch-list.ts';
export { maxDepth } from './skip.ts';
