import { createAdminKey, listAdminKeys, revokeAdminKey } from './admin-keys.ts';
import { exportAudit, listAudit } from './audit.ts';
import {
  changeChannel,
  createChannel,
  findChannelModels,
  listChannels,
  readChannel,
  readChannelForm,
  resetChannel,
  testChannel,
} from './channels.ts';
import { exportConfiguration, planConfiguration, readConfiguration } from './configuration.ts';
import { credit, listEntries } from './accounts.ts';
import {
  exportBookEntries,
  listBookEntries,
  readBooks,
  readReconciliation,
  startReconciliation,
} from './books.ts';
import { readDocument } from './document.ts';
import { changeKey, createKey, listKeys, readKey, revokeKey, rotateKey } from './keys.ts';
import { readHealth } from './health.ts';
import { readMyLimits } from './limits.ts';
import { changeMe, changePassword, endMySession, listMySessions } from './me.ts';
import {
  changeGroup,
  changeModel,
  createGroup,
  createModel,
  listAliases,
  listGroups,
  listModels,
  previewGroup,
  previewPrice,
  putAlias,
  readAlias,
  readModel,
  readModelForm,
  removeAlias,
} from './models.ts';
import {
  finishOidc,
  linkOidc,
  readMethods,
  readSignInSettings,
  startOidc,
  unlinkOidc,
} from './sign-in.ts';
import { playgroundKey } from './playground.ts';
import { readOverview } from './overview.ts';
import type { RouteContract } from './route.ts';
import { explainRoute } from './routing.ts';
import {
  beginSecondFactor,
  enableSecondFactor,
  endSecondFactor,
  endSecondFactorOf,
  readSecondFactor,
} from './second-factor.ts';
import { login, logout, readSession } from './session.ts';
import { listTasks, readTask } from './tasks.ts';
import {
  changeTeam,
  createTeam,
  listMembers,
  listTeams,
  putMember,
  readTeam,
  removeMember,
} from './teams.ts';
import {
  acceptInvitation,
  changeUser,
  createUser,
  inviteUser,
  listUsers,
  readUser,
  signOutUser,
  unlinkUser,
} from './users.ts';
import {
  exportUsage,
  listUsage,
  readFacets,
  readHistogram,
  readLatency,
  readUsage,
  sumUsage,
  watchUsage,
} from './usage.ts';

export { permissionsOf, type Permission } from './permissions.ts';
export type { ModelView } from './models.ts';
export type { RouteContract } from './route.ts';
export type { AttentionView } from './overview.ts';
export { exportedRow, startedRequest } from './usage.ts';
export type { UsageDetailView, UsageRowView } from './usage.ts';

/** Every call of the console's API. */
export const contract = {
  readDocument,
  readMethods,
  login,
  logout,
  startOidc,
  finishOidc,
  readSession,
  listUsage,
  sumUsage,
  readOverview,
  readHistogram,
  readLatency,
  readFacets,
  exportUsage,
  watchUsage,
  readUsage,
  listKeys,
  readKey,
  createKey,
  changeKey,
  rotateKey,
  revokeKey,
  listModels,
  previewGroup,
  previewPrice,
  readModel,
  readModelForm,
  createModel,
  changeModel,
  listAliases,
  readAlias,
  putAlias,
  removeAlias,
  listGroups,
  createGroup,
  changeGroup,
  playgroundKey,
  changeMe,
  readMyLimits,
  changePassword,
  linkOidc,
  unlinkOidc,
  readSecondFactor,
  beginSecondFactor,
  enableSecondFactor,
  endSecondFactor,
  listMySessions,
  endMySession,
  readHealth,
  listChannels,
  readChannel,
  readChannelForm,
  createChannel,
  changeChannel,
  resetChannel,
  testChannel,
  explainRoute,
  findChannelModels,
  listAudit,
  exportAudit,
  readConfiguration,
  exportConfiguration,
  planConfiguration,
  readBooks,
  listBookEntries,
  exportBookEntries,
  readReconciliation,
  startReconciliation,
  listTasks,
  readTask,
  listUsers,
  readUser,
  createUser,
  changeUser,
  inviteUser,
  signOutUser,
  endSecondFactorOf,
  unlinkUser,
  acceptInvitation,
  readSignInSettings,
  listTeams,
  readTeam,
  listMembers,
  createTeam,
  changeTeam,
  putMember,
  removeMember,
  listEntries,
  credit,
  listAdminKeys,
  createAdminKey,
  revokeAdminKey,
} satisfies Record<string, RouteContract>;

export type Contract = typeof contract;
