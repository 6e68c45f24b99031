export { disableAlias, listAliases, upsertAlias, type StoredAlias } from './aliases.repository.ts';
export {
  disableChannel,
  listChannels,
  upsertChannel,
  type StoredChannel,
} from './channels.repository.ts';
export { disableGroup, listGroups, upsertGroup, type StoredGroup } from './groups.repository.ts';
export { disableModel, listModels, upsertModel, type StoredModel } from './models.repository.ts';
export { catalogueRevision } from './catalogue-revision.repository.ts';
