/** What a repair made true, by its rule (docs/repairs.md), and other changes of a request. */
export const repairs: Readonly<Record<string, readonly [en: string, zh: string]>> = {
  b1: ['sampling parameters are removed', '采样由模型自行决定'],
  b2: ['the length of the response has a limit that the model takes', '响应长度有模型接受的上限'],
  b3: [
    'a thinking budget is at least 1024 and less than max_tokens',
    '思考预算至少为 1024 且小于 max_tokens',
  ],
  b4: ['newer models decide how much to think', '较新的模型自行决定思考量'],
  b5: ['older models think within a budget', '较早的模型在预算内思考'],
  b6: ['some models always think', '有些模型总是思考'],
  b7: ['a model that must call a tool cannot think first', '必须调用工具的模型不能先思考'],
  b8: ['the effort is one that the model knows', '思考强度是模型认识的'],
  b9: ['instructions stand where the model accepts them', '轮次之间的指令有其位置，或没有'],
  b10: ['the first message is the user’s', '用户先发言'],
  b11: ['user and assistant take turns', '用户和助手轮流发言'],
  b12: ['a message is not empty', '消息有内容'],
  b13: ['a text block holds more than white space', '文本块不只有空白'],
  b14: ['a cache marker sits on what can be cached', '缓存标记位于可缓存的内容上'],
  b15: ['there are at most four cache markers', '缓存标记最多四个'],
  b16: ['longer cache lifetimes come first', '保留更久的缓存条目在前'],
  b17: ['a tool call is answered by the next turn', '工具调用在下一轮得到结果'],
  b18: ['a tool result answers a call of the turn before', '工具结果对应上一轮的调用'],
  b19: ['a tool call has one result', '一次工具调用只有一个结果'],
  b20: ['tool results come first in their turn', '工具结果在其轮次中排在最前'],
  b21: ['ids of tool calls are unique and plain', '工具调用的编号唯一且简单'],
  b22: ['a tool is called with an object', '工具以对象调用'],
  b23: ['a tool result is text or blocks', '工具结果是文本或内容块'],
  b24: ['a prefill does not end in white space', '已开始的响应不以空白结尾'],
  b25: ['newer models need a user message at the end', '较新的模型要求最后发言的是用户'],
  b26: [
    'a model that thinks gets its thinking back within a step',
    '思考的模型在一步之内取回其思考',
  ],
  b27: ['a thinking block is signed', '思考块带有签名'],
  b28: ['a thinking block is complete', '思考块是完整的'],
  b29: ['the client’s tools have names that the upstream takes', '客户端工具的名称被上游接受'],
  b30: ['tool names are unique', '工具名称互不相同'],
  b31: ['a tool’s schema is an object’s', '工具的模式是对象的模式'],
  b32: ['there are tools to choose from', '有可供选择的工具'],
  b33: ['the chosen tool is among the tools', '所选的工具在工具之中'],
  b34: ['tools that were called are defined', '被调用的工具有定义'],
  b35: ['at least one tool is loaded', '至少加载一个工具'],
  b36: ['an image is what its type says, in plain base64', '图片与其类型相符，为普通 base64'],
  b37: ['an image is not too large', '图片不过大'],
  b38: [
    'documents and citations are where the version allows them',
    '文档和引用位于该版本允许之处',
  ],
  b39: ['fields of betas come with their header', '测试功能的字段带有其标头'],
  b40: ['metadata is an opaque user id', '元数据是不透明的用户编号'],
  b41: ['text contains no half characters', '文本不含半个字符'],
  b42: ['a stop sequence holds more than white space', '停止序列不只有空白'],
  b43: ['numbers and booleans are not written as text', '数字和布尔值不写成文本'],
  b44: ['structured output has no citations', '给定格式的响应没有引用'],
  b45: ['a tool’s schema is of the current draft', '工具的模式符合现行草案'],
  s1: ['reasoning that another account has encrypted was left out', '省略了由另一账户加密的推理'],
  m1: ['the length of the response is what the balance allows', '响应长度以余额允许为限'],
};

const vendorQuirk = [
  'a member that this provider refuses was left out or renamed',
  '省略或改名了该提供商拒绝的成员',
] as const;
const droppedBeta = [
  'a beta whose surcharge has no price was left out',
  '省略了附加费没有价格的测试功能',
] as const;

/** A repair in words; null for one that this version of the console does not know. */
export function explainRepair(id: string, language: string): string | null {
  const words = wordsOf(id);
  return words === null ? null : words[language === 'zh-CN' ? 1 : 0];
}

function wordsOf(id: string): readonly [string, string] | null {
  if (Object.hasOwn(repairs, id)) return repairs[id]!;
  if (/^p\d+$/.test(id)) return vendorQuirk;
  return id.startsWith('beta.') ? droppedBeta : null;
}

/** What of a request or response was lost, by its name; the API has the English words. */
export const losses: Readonly<Record<string, string>> = {
  max_output_tokens: '响应的上限',
  temperature: '采样温度',
  top_p: '核采样',
  top_k: '在最可能的 k 个词元中采样',
  presence_penalty: '对已出现词元的惩罚',
  frequency_penalty: '对频繁词元的惩罚',
  seed: '采样的种子',
  stop: '结束响应的序列',
  n: '多个选择',
  logprobs: '词元的概率',
  verbosity: '响应的长短',
  user: '最终用户',
  cache: '提示缓存的断点',
  cache_key: '哪些请求共用提示缓存',
  response_format: '响应的格式',
  'response_format.schema': '其模式的关键字',
  reasoning: '思考',
  'reasoning.effort': '思考的强度',
  'reasoning.budget': '以词元计的思考量',
  'reasoning.state': '先前轮次中签名或加密的思考',
  tool_choice: '必须或可以调用的工具',
  parallel_tool_calls: '同时进行多个调用',
  'tools.custom': '以自由文本调用的工具',
  'tools.namespace': '工具的命名空间',
  'tool.strict': '严格遵循模式的参数',
  'tool.schema': '工具模式的关键字',
  messages: '最先和最后的发言者',
  system: '对话中间的指令',
  'message.name': '发言者的名称',
  citations: '文本的来源',
  tool_call: '没有结果的调用',
  'tool_call.arguments': '不是 JSON 对象的参数',
  tool_result: '没有调用的结果',
  'tool_result.content': '结果无法容纳的内容',
  'tool_result.is_error': '失败调用的标记',
  'tool_result.media': '结果中的图片和文件',
  image: '图片',
  'image.url': '以网址给出的图片',
  'image.detail': '查看图片的细致程度',
  file: '文件',
  'file.url': '以网址给出的文件',
  'file.filename': '文件的名称',
  audio: '声音',
  'audio.url': '以网址给出的声音',
  video: '视频',
  'video.url': '以网址给出的视频',
  'media.url': '以网址给出的媒体',
  file_id: '由某一提供商保存的文件',
  'answer.audio': '声音',
  'answer.candidates': '第一个之后的选择',
  'answer.citations': '文本的来源',
  'answer.file': '文件',
  'answer.finish': '响应结束的原因',
  'answer.image': '图片',
  'answer.logprobs': '词元的概率',
  'answer.video': '视频',
};

interface Loss {
  readonly name: string;
  readonly how: 'dropped' | 'approximated';
  readonly text: string;
}

/** A loss in words. */
export function explainLoss({ name, how, text }: Loss, language: string): string {
  if (language !== 'zh-CN') return text;
  const meaning = Object.hasOwn(losses, name)
    ? losses[name]!
    : name.startsWith('tools.')
      ? '只有其提供商运行的工具'
      : name.startsWith('answer.')
        ? '只有其提供商理解的内容块'
        : `成员 ${name}`;
  return `${meaning}：${how === 'dropped' ? '已省略' : '近似传递'}`;
}
