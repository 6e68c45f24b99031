/** What an error means and what to do about it. */
export const errors: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  invalid_body: [
    'The body was no JSON object, or it was cut short. Check what the client sends.',
    '请求体不是 JSON 对象，或被截断。请检查客户端发送的内容。',
  ],
  too_complex: [
    'The body was nested too deeply or had too many values. The same request is always refused: send less of it.',
    '请求体嵌套过深或值过多。同样的请求总会被拒绝：请减少内容。',
  ],
  duplicate_key: [
    'A member of the body appeared twice. Send it once.',
    '请求体中有成员出现两次。请只发送一次。',
  ],
  invalid_value: [
    'A field had an impossible value, or no channel of the model supports it. The message to the client names it.',
    '某个字段的值不可能，或该模型的渠道都不支持它。发给客户端的消息中有其名称。',
  ],
  missing_parameter: [
    'A required field was missing. The message to the client names it.',
    '缺少必填字段。发给客户端的消息中有其名称。',
  ],
  model_required: ['The request named no model.', '请求没有指明模型。'],
  model_not_available: [
    'There is no such model, or no channel serves it for this key’s group. Use a name from the page of models.',
    '没有这个模型，或该密钥的组没有渠道提供它。请使用模型页面上的名称。',
  ],
  model_unpriced: [
    'The model has no price, so the request could not be billed. An operator has to set one.',
    '该模型没有价格，无法计费。需要运维人员设置价格。',
  ],
  pictures_unchargeable: [
    'Pictures of this model came without the size or usage that their price needs, so they could not be charged. After ten in a minute, the key gets none until the minute is over. An operator has to change the price or the upstream.',
    '该模型的图片缺少计价所需的尺寸或用量，因此无法计费。一分钟内达到十次后，该密钥在这一分钟内不再获得图片。需要运维人员修改价格或上游。',
  ],
  context_too_long: [
    'The prompt was longer than the model’s window. Shorten the conversation, or use a model with a larger window.',
    '提示超过了模型的窗口。请缩短对话，或使用窗口更大的模型。',
  ],
  content_policy: [
    'The provider’s content filter refused the request.',
    '提供商的内容过滤器拒绝了该请求。',
  ],
  upstream_rejected: [
    'The provider refused the request as invalid and named no field. Check its parameters.',
    '提供商认为请求无效，但没有指明字段。请检查参数。',
  ],
  upstream_rejected_field: [
    'The provider refused a field. The message to the client names it.',
    '提供商拒绝了某个字段。发给客户端的消息中有其名称。',
  ],
  missing_key: ['The request had no API key.', '请求没有 API 密钥。'],
  invalid_key: [
    'The API key is unknown, expired, disabled or revoked.',
    'API 密钥未知、已过期、已停用或已撤销。',
  ],
  insufficient_balance: [
    'The payer’s balance is too low. An administrator can add credit.',
    '付款方余额不足。管理员可以充值。',
  ],
  user_quota_exceeded: [
    'The person’s quota is used up. An administrator can raise it.',
    '此人的配额已用完。管理员可以提高配额。',
  ],
  key_quota_exceeded: [
    'The key’s quota is used up. Raise it on the page of keys, or use another key.',
    '密钥的配额已用完。请在密钥页面提高，或使用其他密钥。',
  ],
  ip_not_allowed: [
    'The client’s address is not on the key’s list.',
    '客户端地址不在密钥的名单上。',
  ],
  team_disabled: [
    'The key’s team is disabled. An administrator can enable it on its page.',
    '密钥所属的团队已停用。管理员可以在团队页面启用它。',
  ],
  model_not_allowed: ['The model is not on the key’s list.', '该模型不在密钥的名单上。'],
  group_disabled: [
    'The key’s group is switched off. An operator can enable it on the page of models, or give the key another group.',
    '密钥所在的分组已停用。运维人员可在模型页面启用该分组，或为密钥换一个分组。',
  ],
  model_disabled: ['The model is switched off.', '该模型已停用。'],
  client_not_allowed: [
    'Every channel of the model accepts only other clients.',
    '该模型的所有渠道只接受其他客户端。',
  ],
  not_found: [
    'The gateway has no such path. Check the base URL.',
    '网关没有该路径。请检查基础网址。',
  ],
  not_found_hint: [
    'The gateway has no such path. The message to the client names the right base URL.',
    '网关没有该路径。发给客户端的消息中有正确的基础网址。',
  ],
  model_not_found: ['The key may use no such model.', '密钥不能使用这样的模型。'],
  task_not_found: ['The key’s owner has no such video task.', '密钥的所有者没有这个视频任务。'],
  previous_response_not_found: [
    'The earlier response is not known any more. Send the whole conversation.',
    '先前的响应已不可知。请发送完整的对话。',
  ],
  state_not_found: [
    'What the request refers to is kept by another provider, by another owner, or no more.',
    '请求所引用的内容由其他提供商或所有者保存，或已不存在。',
  ],
  method_not_allowed: ['The path takes other methods.', '该路径使用其他方法。'],
  body_too_slow: [
    'The body arrived too slowly. Check the client’s connection.',
    '请求体到达过慢。请检查客户端的连接。',
  ],
  body_too_large: [
    'The body was larger than the gateway or the provider takes.',
    '请求体超过网关或提供商的上限。',
  ],
  unsupported_content_type: ['The body has to be JSON.', '请求体必须是 JSON。'],
  unsupported_content_encoding: [
    'The body’s compression is not known.',
    '不支持请求体的压缩方式。',
  ],
  websocket_unsupported: [
    'The client asked for a websocket; it continues without one.',
    '客户端请求了 websocket，随后不用它继续。',
  ],
  rate_limited: [
    'The key or team made too many requests in a minute, in an hour or at the same time. Wait, or raise the limit.',
    '密钥或团队在一分钟、一小时内或同时发出的请求过多。请等待，或提高限额。',
  ],
  channels_rate_limited: [
    'The providers limit the rate of every channel of the model. More credentials or channels help.',
    '提供商限制了该模型所有渠道的速率。增加凭证或渠道会有帮助。',
  ],
  team_daily_budget_exceeded: ['The team’s budget for the day is used up.', '团队当日预算已用完。'],
  team_monthly_budget_exceeded: [
    'The team’s budget for the month is used up.',
    '团队当月预算已用完。',
  ],
  team_total_budget_exceeded: ['The team’s total budget is used up.', '团队总预算已用完。'],
  member_budget_exceeded: [
    'The member’s share of the team’s budget is used up.',
    '成员在团队预算中的份额已用完。',
  ],
  internal_error: [
    'A defect of the gateway. Its log has the request’s id.',
    '网关的缺陷。其日志中有该请求的编号。',
  ],
  unsupported_transfer_encoding: [
    'The client’s transfer encoding is not known.',
    '不支持客户端的传输编码。',
  ],
  upstream_abnormal: [
    'Every channel that was asked failed. The route shows how; the page of health shows what is wrong now.',
    '所有被请求的渠道都失败了。路由显示过程；健康页面显示当前的问题。',
  ],
  upstream_credential_refused: [
    'The provider refuses the credential of every channel of the model, or its account is empty. An operator has to act; the page of health shows which channels.',
    '提供商拒绝了该模型所有渠道的凭证，或账户余额已用尽。需要运维人员处理；健康页面显示是哪些渠道。',
  ],
  unavailable: [
    'The gateway could not serve it at that moment. The page of health shows whether something is wrong.',
    '网关当时无法处理。健康页面显示是否有问题。',
  ],
  outdated: [
    'A newer version of Sluice has changed the database. The node that was asked has to be upgraded.',
    '更新版本的 Sluice 已更改数据库，被请求的节点需要升级。',
  ],
  overloaded: ['The gateway had too much to do at that moment.', '网关当时负载过高。'],
  upstream_overloaded: ['The providers of the model were overloaded.', '该模型的提供商负载过高。'],
};

/** The client asks again by itself, as the official SDKs do, unless the wait is long. */
const repeated = new Set([
  'body_too_slow',
  'rate_limited',
  'channels_rate_limited',
  'internal_error',
  'upstream_abnormal',
  'unavailable',
  'outdated',
  'overloaded',
  'upstream_overloaded',
]);

/** @returns null for an error that this version of the console does not know. */
export function explainError(name: string, language: string): string | null {
  return Object.hasOwn(errors, name) ? errors[name]![language === 'zh-CN' ? 1 : 0] : null;
}

export const isRepeated = (name: string): boolean => repeated.has(name);
