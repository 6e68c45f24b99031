import type {
  DeclaredChannel,
  DeclaredKey,
  DeclaredModel,
  DeclaredTeam,
  DeclaredUser,
} from '#config/index.ts';

export const user: DeclaredUser = {
  email: 'ada@example.com',
  name: 'Ada',
  role: 'member',
  balance: '10',
  quota: null,
  groups: ['default'],
  enabled: true,
};

export const team: DeclaredTeam = {
  name: 'research',
  balance: '100',
  rpm: 600,
  budget: { daily: '20', monthly: '300.000000001', total: null },
  databaseAway: null,
  enabled: true,
  timeZone: 'UTC',
  groups: ['default'],
  members: [{ user: 'ada@example.com', role: 'owner', budget: '50' }],
};

export const key: DeclaredKey = {
  name: 'ci',
  secret: 'sk-0123456789abcdef0123456789abcdef',
  user: 'ada@example.com',
  team: null,
  group: 'default',
  models: ['gpt-5'],
  quota: '5.5',
  expiresAt: 1_800_000_000_000,
  ips: ['10.0.0.0/8'],
  rpm: 60,
  rph: null,
  maxConcurrency: 20,
  conversion: 'strict',
  capOutput: true,
  enabled: true,
};

export const channel: DeclaredChannel = {
  name: 'openai-main',
  provider: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  apiKeys: ['sk-canary-upstream-credential'],
  protocols: ['chat', 'responses'],
  groups: ['default'],
  models: [
    { name: 'gpt-5', upstream: 'gpt-5' },
    { name: 'fast', upstream: 'gpt-5-mini' },
  ],
  priority: 1,
  weight: 2,
  userAgents: [],
  headers: { 'x-extra': 'canary-header-value' },
  timeouts: { connect: 1_000 },
  proxy: 'http://ann:pa55@proxy.example.com:3128/',
  billsAfterCancel: true,
  cache: 'off',
  state: 'owned',
  sharedState: ['vs_handbook', 'file-*'],
  enabled: true,
};

export const model: DeclaredModel = {
  id: 'fast',
  type: 'chat',
  displayName: null,
  ownedBy: null,
  contextWindow: null,
  maxOutputTokens: 32_000,
  capabilities: [],
  echoReasoning: null,
  allow: [],
  enabled: true,
  price: { input: '0.25', output: '2' },
};
