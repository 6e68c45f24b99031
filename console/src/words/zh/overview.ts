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

export const left: Words['left'] = {
  title: '您的剩余额度',
  usd: 'USD 剩余',
  nearest: '最先用尽的是：{{name}}。',
  nothing: '额度已用尽：{{name}}',
  shared_one: '{{count}} 人共用',
  shared_other: '{{count}} 人共用',
  key: '密钥 {{name}}',
  balance: '您的余额',
  quota: '您的总额度',
  team: {
    balance: '{{name}} 的余额',
    daily: '{{name}}，今天',
    monthly: '{{name}}，本月',
    total: '{{name}}，总计',
    member: '您在 {{name}} 的额度',
  },
};

export const attention: Words['attention'] = {
  title: '需要处理',
  none: '目前没有。',
  windows: { daily: '（今天）', monthly: '（本月）', total: '（总计）' },
  channel_failing: {
    title: '{{name}} 出错',
    text_one: '自 {{time}} 起有 {{number}} 次尝试失败：{{error}}。',
    text_other: '自 {{time}} 起有 {{number}} 次尝试失败：{{error}}。',
    way: '查看健康状况',
  },
  channel_unsteady: {
    title: '{{name}} 不稳定',
    text: '最近 24 小时有 {{number}} 次尝试失败，最近一次：{{error}}。',
    way: '查看健康状况',
  },
  price_missing: {
    title: '{{name}} 没有价格',
    text: '由于无法计费，对它的请求会被拒绝。',
    way: '设置价格',
  },
  budget_high: {
    title: '{{name}} 的预算已用 {{percent}} %',
    text: '{{limit}} USD 中已用 {{spent}} USD{{window}}。',
    way: '查看用量',
  },
  key_expiring: {
    title: '密钥 {{name}} 即将到期',
    text: '它将于 {{time}} 到期。',
    way: '查看密钥',
  },
  key_exhausted: {
    title: '密钥 {{name}} 已用完',
    text: '已花费 {{limit}} USD 中的 {{spent}} USD，其请求会被拒绝。请提高配额，或换用其他密钥。',
    way: '查看密钥',
  },
  channel_resting: {
    title: '{{name}} 在 {{of}} 个节点中的 {{count}} 个上休息',
    text: '其他节点照常请求它。请检查那些节点如何连接它。',
    way: '查看健康',
  },
  thisGateway: '本网关',
  node_version: {
    title: '节点版本不一致',
    text: '{{name}} 运行 {{theirs}}，本页所在节点运行 {{ours}}。',
    way: '查看健康',
  },
  journal_full: {
    title: '{{name}} 的日志不接受记录',
    text: '它拒绝所有计费请求。请清理或修复其数据目录所在磁盘。',
    way: '查看健康',
  },
  journal_growing: {
    title: '{{name}} 的日志正在增长',
    text: '{{number}} 条用量记录在等待数据库。它们已安全写入磁盘；请检查数据库。',
    way: '查看健康',
  },
};
