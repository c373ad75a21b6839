// Replaces the parts of the overview that have changed by those that the server sends. The server has escaped them.
const source = new EventSource('/live');
const say = (text) => {
  const place = document.getElementById('liveness');
  if (place !== null && place.textContent !== text) place.textContent = text;
};

source.addEventListener('overview', (event) => {
  const fresh = new DOMParser().parseFromString(JSON.parse(event.data), 'text/html');
  for (const part of fresh.querySelectorAll('[data-live]')) {
    const old = document.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    if (old !== null && old.innerHTML !== part.innerHTML) old.replaceChildren(...part.childNodes);
  }
  say('Live.');
});
source.addEventListener('away', () => say('Redis is away; these numbers are old.'));
source.addEventListener('error', () => say('The connection to the gateway is lost; these numbers are old.'));
