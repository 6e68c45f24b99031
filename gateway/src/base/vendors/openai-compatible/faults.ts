import type { FaultTable } from '../vendor.ts';

/** Servers, hosts and gateways of the OpenAI kind that have no folder of their own. */
export const compatibleFaults: FaultTable = {
  words: {
    // llama.cpp, tools/server/server-context.cpp
    exceed_context_size_error: 'context_overflow',
    // GitHub Models, with 400 or 413; GitHub Copilot: "prompt token count of 130000 exceeds the limit of 128000".
    tokens_limit_reached: 'context_overflow',
    too_many_prompt_tokens: 'context_overflow',
    model_max_prompt_tokens_exceeded: 'context_overflow',
    // GitHub Copilot.
    model_not_supported: 'model_missing',
    unsupported_api_for_model: 'model_missing',
    // Together, with 400: "Unable to access non-serverless model …"; Mistral and Qianfan: "Invalid model".
    model_not_available: 'model_missing',
    invalid_model: 'model_missing',
    // Baidu's Qianfan: the error codes of its v2 API.
    tokens_too_long: 'context_overflow',
    rpm_rate_limit_exceeded: 'quota',
    tpm_rate_limit_exceeded: 'quota',
    coding_plan_rate_limit_exceeded: 'quota',
    invalid_iam_token: 'account',
    coding_plan_subscription_expired: 'account',
    // Tencent's Hunyuan: the error codes of its ChatCompletions API.
    'ResourceUnavailable.InArrears': 'account',
    'FailedOperation.ResourcePackExhausted': 'account',
    'FailedOperation.FreeResourcePackExhausted': 'account',
    'ResourceInsufficient.ChargeResourceExhausted': 'account',
    // Text Generation Inference, router/src/server.rs: `error_type`.
    overloaded: 'overloaded',
    // Bedrock, https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html: `__type`.
    ValidationException: 400,
    UnrecognizedClientException: 'account',
    ExpiredTokenException: 'account',
    AccessDeniedException: 403,
    ResourceNotFoundException: 'model_missing',
    ThrottlingException: 'quota',
    ServiceQuotaExceededException: 'quota',
    ModelNotReadyException: 'overloaded',
    ServiceUnavailableException: 503,
    InternalServerException: 500,
    // Z.ai's GLM, https://docs.z.ai/api-reference/api-code: only beside these statuses, since other servers number too.
    '429 1113': 'account',
    '429 1309': 'account',
    '429 1305': 'overloaded',
    '429 1312': 'overloaded',
    '400 1211': 'model_missing',
    '400 1212': 'capability',
    '400 1261': 'context_overflow',
    '400 1301': 'content_policy',
    // SiliconFlow, https://docs.siliconflow.com/en/faqs/error-code: "Sorry, your account balance is insufficient."
    '403 30001': 'account',
    '400 20012': 'model_missing',
    // MiniMax, https://platform.minimax.io/docs/api-reference/errorcode: `base_resp.status_code`.
    '200 1002': 'quota',
    '200 1004': 'account',
    '200 1008': 'account',
    '200 1026': 'content_policy',
    '200 1027': 'content_policy',
    '200 1039': 'quota',
    '200 2049': 'account',
    '200 2056': 'quota',
  },
  texts: [
    // llama.cpp: "the request exceeds the available context size, try increasing it"
    [/exceeds the available context size/i, 'context_overflow'],
    // SGLang and Together: "The input (9000 tokens) is longer than the model's context length (8192 tokens)."; vLLM: "The
    // decoder prompt (length 9) is longer than the maximum model length of 8."
    [/longer than the (model's context|maximum model) length/i, 'context_overflow'],
    // vLLM: "Input length (9) exceeds model's maximum context length (8)."; "However, the model's context length is only 8
    // tokens"; "The engine prompt length 227861 exceeds the max_model_len 131072."
    [/the model's context length is only|exceeds the max_model_len/i, 'context_overflow'],
    // TensorRT-LLM: "Prompt length (9000) exceeds maximum input length (8192)."; DeepInfra, Poolside.
    [
      /length \(?\d+\)? exceeds maximum input length|maximum allowed input length of/i,
      'context_overflow',
    ],
    // TensorRT-LLM: "The sum of prompt length (9) … should not exceed max_num_tokens (8)."
    [/should not exceed max_(num_tokens|seq_len)/i, 'context_overflow'],
    // TabbyAPI: "Prompt length 9000 is greater than max_seq_len 8192"; SiliconFlow: "length of prompt_tokens (9000) must be
    // less than max_seq_len (8192)".
    [/(greater|less) than (the )?max_seq_len/i, 'context_overflow'],
    // Text Generation Inference, router/src/validation.rs, and Together.
    [/`inputs` (tokens \+ `max_new_tokens` )?must (be|have)/i, 'context_overflow'],
    // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length."; "Trying to keep
    // the first 9000 tokens when context the overflows."
    [/(greater than|loaded with) (the )?context length/i, 'context_overflow'],
    [/tokens when (the )?context (the )?overflows/i, 'context_overflow'],
    // LM Studio: "Reached context length of 4096 tokens with model … that does not currently support mid-generation
    // context overflow."
    [/reached context length of \d+ tokens/i, 'context_overflow'],
    // Vercel's gateway: "prompt has 9 tokens, but the configured context size is 8 tokens".
    [/configured context size is/i, 'context_overflow'],
    // Ollama: "the input length exceeds the context length".
    [/exceeds (the|this model's) context length/i, 'context_overflow'],
    // GitHub Models: "Request body too large for gpt-4o model. Max size: 8000 tokens."; Copilot.
    [/max size: \d+ tokens|prompt token count of \d+ exceeds/i, 'context_overflow'],
    // GLM; Cohere: "too many tokens: total number of tokens in the prompt cannot exceed 4081".
    [/prompt exceeds max length|tokens in the prompt cannot exceed/i, 'context_overflow'],
    // Cerebras: "Current length is 9000 while limit is 8192".
    [/current length is \d+ while limit is/i, 'context_overflow'],
    // IBM's watsonx: "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model".
    [/cannot exceed the total tokens limit/i, 'context_overflow'],
    // Bedrock, with ValidationException.
    [/input is too long for requested model|number of input tokens exceeds/i, 'context_overflow'],
    // LiteLLM wraps what it got: "litellm.ContextWindowExceededError: BadRequestError: …"
    [/ContextWindowExceeded/i, 'context_overflow'],

    // MiniMax, with 500: "insufficient balance (1008)".
    [/^insufficient balance/i, 'account'],
    // DeepSeek, with 402; Kimi: "Your account is suspended due to insufficient balance".
    [/insufficient (account )?balance|account balance is insufficient/i, 'account'],
    // Fireworks, with 412: "Account acct is suspended, possibly due to reaching the monthly spending limit …"
    [/account \S+ is suspended/i, 'account'],
    // OpenRouter, with 402 and 403: "Insufficient credits."; "Key limit exceeded (total limit)."
    [/insufficient credits|key limit exceeded/i, 'account'],
    // Together, with 402: "Credit limit exceeded, please navigate to … /settings/billing".
    [/credit limit exceeded/i, 'account'],
    // LiteLLM's own budgets; One API: "该令牌额度已用尽", "用户额度不足".
    [/budget has been exceeded|exceeded ?budget|额度已用尽|额度不足|余额不足|欠费/i, 'account'],
    // Bedrock, with ValidationException: "Access to this model is not available for channel program accounts."
    [/not available for channel program accounts/i, 'account'],
    [/^operation not allowed$/i, 'account'],
    // Ollama's cloud: "you've reached your hourly usage limit, please upgrade to continue".
    [/reached your (hourly|daily|weekly|monthly) usage limit/i, 'quota'],

    // OpenRouter: "gpt-9 is not a valid model ID"; Bedrock: "The provided model identifier is invalid."
    [/is not a valid model id|provided model identifier is invalid/i, 'model_missing'],
    // DeepSeek and Model Studio: "Model Not Exist"; SiliconFlow; "The model `x` does not exist or you do not have access to it."
    [/model (does )?not exist|the model \S+ does not exist/i, 'model_missing'],
    // Bedrock: "Invocation of model ID … with on-demand throughput isn’t supported."
    [/with on-demand throughput isn.t supported/i, 'model_missing'],
    // One API: "当前分组 default 下对于模型 x 无可用渠道"; New API: "No available channel for model x".
    [/无可用渠道|no available channel for model/i, 'model_missing'],

    // Ollama: "registry.ollama.ai/library/gemma3 does not support tools"; vLLM without `--enable-auto-tool-choice`:
    // "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set".
    [/does not support (tools|thinking|images?|vision|audio)\b/i, 'capability'],
    [/requires --enable-auto-tool-choice/i, 'capability'],
    // vLLM: "m is not a multimodal model"; "At most 1 image(s) may be provided in one request."
    [/is not a multimodal model|at most \d+ image\(s\) may be provided/i, 'capability'],
    // DeepSeek at an image: "unknown variant `image_url`, expected `text`".
    [/unknown variant `image_url`/i, 'capability'],
    // Groq: "`tool calling` is not supported with this model"; OpenAI: "tools is not supported in this model."
    [/(tools|tool calling`?) is not supported (in|with) this model/i, 'capability'],
    // OpenRouter, with 403: "… requires moderation on OpenRouter. Your input was flagged for "violence"."
    [/requires moderation|your input was flagged/i, 'content_policy'],
    // OpenRouter, with 404: "No endpoints found that support tool use."; "… image input".
    [/no endpoints found that support/i, 'capability'],
  ],
};
