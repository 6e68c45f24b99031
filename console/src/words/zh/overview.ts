import type { Words } from '../index.ts';

export const overview: Words['overview'] = {
  title: '概览',
  spend: '花费',
  requests: '请求',
  success: '成功',
  firstToken: '首个词元，p50 · p95',
  cached: '来自缓存的输入',
  against: '{{change}}，此前 {{before}}',
  nothingBefore: '此前没有',
  before: '此前：{{before}}',
  points: '{{number}} 个百分点',
  empty: '此范围内没有用量。',
  when: '时间',
  lastFailures: '最近的失败',
  noFailures: '此范围内没有。',
  all: '全部 {{number}} 个',
  why: '原因',
};

export const attention: Words['attention'] = {
  title: '需要处理',
  none: '目前没有。',
  windows: { daily: '（今天）', monthly: '（本月）', total: '（总计）' },
  channel_resting: {
    title: '{{name}} 暂停使用',
    text: '它失败得太频繁。在一次尝试成功之前，请求会转到其他渠道。',
    way: '查看健康状况',
  },
  credential_refused: {
    title: '{{name}}：凭据被拒绝',
    text: '上游拒绝了它的 {{number}} 个凭据。请在声明该渠道的地方更换。',
    way: '查看健康状况',
  },
  price_missing: {
    title: '{{name}} 没有价格',
    text: '由于无法计费，对它的请求会被拒绝。请在声明该模型的地方设置价格。',
    way: '查看请求',
  },
  budget_high: {
    title: '{{name}} 的预算已用 {{percent}} %',
    text: '{{limit}} 美元中已用 {{spent}} 美元{{window}}。',
    way: '查看用量',
  },
  key_expiring: {
    title: '密钥 {{name}} 即将到期',
    text: '它将于 {{time}} 到期。',
    way: '查看密钥',
  },
  journal_growing: {
    title: '日志正在增长',
    text: '{{number}} 条用量记录在等待数据库。它们已安全写入磁盘；请检查数据库。',
    way: '',
  },
};
