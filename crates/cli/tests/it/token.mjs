// Lets a program that knows nothing of tokens show one, whichever way it sends its requests.
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

const shown = `Bearer ${process.env.TOKEN}`;
const { fetch } = globalThis;
globalThis.fetch = (at, options = {}) => {
  const headers = new Headers(options.headers ?? at.headers);
  headers.set('authorization', shown);
  return fetch(at, { ...options, headers });
};
const { request } = http;
http.request = (...parts) => {
  const sent = request(...parts);
  sent.setHeader('authorization', shown);
  return sent;
};
syncBuiltinESMExports();
