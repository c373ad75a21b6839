import type { RequestHandler } from 'express';
import helmet from 'helmet';

const COMMON = {
  // An origin that is sent as "null" could not be compared, see same-origin.ts.
  referrerPolicy: { policy: 'same-origin' },
  crossOriginEmbedderPolicy: false,
} as const;

const NOTHING_ELSE = {
  'default-src': ["'none'"],
  'frame-ancestors': ["'none'"],
  'form-action': ["'self'"],
  'connect-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'script-src': ["'self'"],
};

/** Headers for the API and the gateway's own pages: scripts and styles only from its own files. */
export function securityHeaders(https: boolean): RequestHandler {
  return helmet({
    ...COMMON,
    strictTransportSecurity: https && { maxAge: 31_536_000 },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { ...NOTHING_ELSE, 'style-src': ["'self'"], 'base-uri': ["'none'"] },
    },
  });
}

/** Headers for Bull Board, whose page has inline styles and a `base` element. It has no inline scripts. */
export function boardHeaders(): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      ...NOTHING_ELSE,
      'style-src': ["'self'", "'unsafe-inline'"],
      'font-src': ["'self'"],
      'base-uri': ["'self'"],
    },
  });
}
