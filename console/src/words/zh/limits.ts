import type { Words } from '../index.ts';

export const limits: Words['limits'] = {
  left: 'USD 剩余（共 {{limit}}）',
  spent: '已用 {{amount}}',
  held: '预留 {{amount}}',
  ends: '{{time}} 结束',
  noWindow: '用完不再恢复',
  usedUp: '已用完',
  reached: '按此速度将于 {{time}} 用完',
  gauge: '{{name}}：已用 {{spent}} / {{limit}} USD，预留 {{held}}',
  daily: '每日',
  monthly: '每月',
  total: '总计',
};
