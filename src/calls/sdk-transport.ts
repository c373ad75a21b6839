import { rememberAddress, rememberSecrets } from '../config/redact.js';
import { providerError } from './provider-error.js';
import { readResponse } from './read-response.js';
import { type LoadedSdk, loadSdk, type SdkOptions } from './sdk-client.js';
import { NO_TIMEOUT_MS, sdkFault, wireResponse } from './sdk-parts.js';
import type { CallResponse, Transport } from './transport.js';

/** Sends calls through the Anthropic SDK, which is loaded at the first call. */
export function sdkTransport(options: SdkOptions = {}): Transport {
  rememberSecrets(options.apiKey);
  if (options.baseURL !== undefined) rememberAddress(options.baseURL);
  let loading: Promise<LoadedSdk> | undefined;
  return {
    provider: 'anthropic',
    server: options.baseURL ?? process.env.ANTHROPIC_BASE_URL ?? '',
    async send(request, signal) {
      loading ??= loadSdk(options);
      const { sdk, client, events } = await loading;
      try {
        const response = await client.messages
          .create({ ...request, stream: true }, { signal, maxRetries: 0, timeout: NO_TIMEOUT_MS })
          .asResponse();
        return callResponse(response, events);
      } catch (thrown) {
        throw sdkFault(thrown, { ...sdk, SdkError: sdk.AnthropicError }, providerError);
      }
    },
  };
}

function callResponse(response: Response, events: LoadedSdk['events']): CallResponse {
  const wire = wireResponse(response, () => events(response));
  return { ...wire, message: (onEvent) => readResponse(wire, onEvent) };
}
