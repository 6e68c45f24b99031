import type { ChannelTrialResult, UpstreamModels } from '../contract/channels.ts';

type Class = ChannelTrialResult['class'] | UpstreamModels['class'];

const sentences: Readonly<Record<Class, string>> = {
  'no-list': 'This vendor has no list of models that the gateway knows. Write the names.',
  works: '',
  'no-text-model': 'Only chat models can be tested. Name a model of the channel that is one.',
  'no-address':
    'No address was found for this host, or one of the local link, where nothing is sent. Check the spelling of `base_url`.',
  'not-allowed':
    'Nothing is sent to addresses of the local link, where clouds give out credentials.',
  'no-connection': 'Nothing accepts connections there. Check host, port and firewall.',
  closed:
    'The upstream closed the connection without a response. Check the port, and whether it is http or https.',
  tls: 'The certificate of the upstream is not valid for this host, or nobody here trusts it.',
  credential:
    'The upstream does not accept the API key. Check that it is complete, and that it belongs to this address.',
  funds: 'The upstream wants money. Top up the account there.',
  unknown:
    'The upstream does not know the address or the model. Check the path of `base_url` and the upstream name of the model.',
  limited:
    'The upstream limits the rate, or the quota there is used up. Try again later, or ask the vendor for more.',
  refused: 'The upstream refuses the request. Its message says why.',
  upstream: 'The upstream has failed. Try again; its own status page may tell more.',
  time: 'The upstream took too long. Try again, or raise the timeouts of the channel.',
  form: 'The response is in no form that the gateway reads. Check the path of `base_url`, and the provider and protocols of the channel.',
  cut: 'The response was cut off. Try again; a proxy between may limit the time of responses.',
};

/** What to do about the outcome of a test; empty if the channel works. */
export const adviceFor = ({ class: name }: { readonly class: Class }): string => sentences[name];
