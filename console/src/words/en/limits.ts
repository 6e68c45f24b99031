export const limits = {
  left: 'USD left of {{limit}}',
  spent: 'spent {{amount}}',
  held: 'held {{amount}}',
  ends: 'ends {{time}}',
  noWindow: 'does not renew',
  usedUp: 'used up',
  reached: 'used up on {{time}} at this pace',
  gauge: '{{name}}: {{spent}} of {{limit}} USD spent, {{held}} held',
  daily: 'Day',
  monthly: 'Month',
  total: 'In total',
} as const;
