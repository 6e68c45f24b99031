export {
  adoptJournals,
  hasJournal,
  journalFolders,
  workerFolder,
  type Adoption,
} from './adopt-journals.ts';
export { createLives, type Lives } from './lives.ts';
export { allNodes } from './nodes.repository.ts';
export { findNodeId, readNodeId } from './node-id.ts';
export { createNodeRegistry, nodeRules, type MissingNode, type NodeRegistry } from './registry.ts';
