import type { FaultTable } from '../vendor.ts';

/** https://platform.openai.com/docs/guides/error-codes; the error codes of the API reference; Azure. */
export const openAiFaults: FaultTable = {
  words: {
    authentication_error: 401,
    rate_limit_exceeded: 'quota',
    server_is_overloaded: 503,
    slow_down: 503,
    image_generation_user_error: 400,

    context_length_exceeded: 'context_overflow',
    invalid_api_key: 'account',
    insufficient_quota: 'account',
    billing_hard_limit_reached: 'account',
    billing_not_active: 'account',
    account_deactivated: 'account',
    credit_balance_exhausted: 'account',
    organization_spend_limit_exceeded: 'account',
    organization_usage_limit_exceeded: 'account',
    project_spend_limit_exceeded: 'account',
    unsupported_country_region_territory: 'account',
    model_not_found: 'model_missing',
    previous_response_not_found: 'previous_response_not_found',

    content_filter: 'content_policy',
    content_policy_violation: 'content_policy',
    moderation_blocked: 'content_policy',
    image_content_policy_violation: 'content_policy',
    // "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
    invalid_prompt: 'content_policy',

    // `ResponseError` of the API reference: in a stream they come without a status.
    empty_image_file: 'client',
    failed_to_download_image: 'client',
    image_file_not_found: 'client',
    image_file_too_large: 'client',
    image_parse_error: 'client',
    image_too_large: 'client',
    image_too_small: 'client',
    invalid_base64_image: 'client',
    invalid_image: 'client',
    invalid_image_format: 'client',
    invalid_image_mode: 'client',
    invalid_image_url: 'client',
    unsupported_image_media_type: 'client',

    // Azure, https://learn.microsoft.com/azure/ai-foundry/openai/how-to/content-filters and …/reference
    ResponsibleAIPolicyViolation: 'content_policy',
    DeploymentNotFound: 'model_missing',
    // "The chatCompletion operation does not work with the specified model."
    OperationNotSupported: 'model_missing',
  },
  texts: [
    // "This model's maximum context length is 8192 tokens."; Mistral, DeepSeek, Groq, OpenRouter and others.
    [/maximum context (length|limit)/i, 'context_overflow'],
    // "Your input exceeds the context window of this model."; Cloudflare; llama-cpp-python; MiniMax.
    [
      /context window (limit|exceed|of)|exceeds? (the |this )?(model )?context window/i,
      'context_overflow',
    ],
    // "Input tokens exceed the configured limit of 272000 tokens."
    [/input tokens exceed the configured limit/i, 'context_overflow'],
    // With the code `unsupported_value` or `model_not_found`.
    [/organization must be verified/i, 'account'],
    [
      /account is (not active|deactivated|suspended|in arrears)|account is in good standing/i,
      'account',
    ],
    [/billing hard limit/i, 'account'],
    [
      /not available in your (country|region)|country, region, or territory not supported/i,
      'account',
    ],
    // "Invalid content type. image_url is only supported by certain models."
    [/image_url is only supported by certain models/i, 'capability'],
    // Whatever it is called exactly: `InputVideoSensitiveContentDetected`, `responsible_ai_policy`.
    [/content_?policy|content_filter|moderation_blocked/i, 'content_policy'],
    [/data_?inspection_?failed|sensitive_?content|responsible_?ai_?policy/i, 'content_policy'],
    // Image endpoints and Azure: "Your request was rejected as a result of our safety system."
    [/request was rejected as a result of (our|the) safety system/i, 'content_policy'],
    [/potentially violating our usage policy|content management policy/i, 'content_policy'],
  ],
};
