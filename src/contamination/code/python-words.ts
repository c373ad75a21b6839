const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

export const PYTHON_KEYWORDS = words(`
  False None True and as assert async await break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield
`);

/** Names that a copier cannot rename: the language gives them. */
export const PYTHON_BUILTINS = words(`
  self cls super print range xrange len int str float bool list dict set tuple frozenset bytes bytearray object
  type isinstance issubclass enumerate zip map filter sorted reversed sum min max abs all any ord chr bin hex oct
  round pow divmod iter next open input raw_input hash id repr format getattr setattr hasattr callable vars dir
  locals globals slice property staticmethod classmethod complex memoryview eval exec __name__ __init__ __main__
  __repr__ __str__ __len__ __eq__ __lt__ __hash__ __iter__ __next__ __getitem__ __setitem__ __contains__ __call__
  __enter__ __exit__ __file__ __doc__ __dict__ __class__ __all__
  Exception ValueError TypeError KeyError IndexError RuntimeError StopIteration NotImplementedError
  AttributeError ZeroDivisionError OverflowError AssertionError NameError OSError IOError FileNotFoundError
  ArithmeticError LookupError KeyboardInterrupt NotImplemented Ellipsis
  List Dict Set Tuple Optional Union Any Callable Iterable Iterator Sequence Generator Deque
  math re os sys json time random string itertools functools collections heapq bisect operator datetime copy
  argparse logging pathlib typing abc csv statistics decimal fractions unittest doctest dataclasses
  defaultdict Counter deque OrderedDict namedtuple heappush heappop heapify nlargest nsmallest
  bisect_left bisect_right insort accumulate permutations combinations product chain groupby lru_cache cache
  reduce partial itemgetter attrgetter dataclass field sqrt floor ceil gcd lcm inf pi
  np numpy pd pandas torch nn optim tf keras sklearn plt matplotlib scipy tqdm F xgb lgb xgboost lightgbm
`);

/** Attribute names of the standard library and of the usual scientific packages. */
export const PYTHON_ATTRIBUTES = words(`
  append extend insert remove pop popitem clear index count sort reverse copy update setdefault get items keys
  values iteritems iterkeys itervalues fromkeys add discard union intersection difference issubset issuperset
  isdisjoint symmetric_difference
  join split rsplit splitlines strip lstrip rstrip replace startswith endswith find rfind lower upper title
  capitalize swapcase isalpha isdigit isalnum isspace isupper islower isnumeric zfill ljust rjust center encode
  decode format partition rpartition translate maketrans casefold bit_length to_bytes from_bytes as_integer_ratio
  appendleft popleft extendleft rotate most_common elements total subtract maxlen
  heappush heappop heapify heappushpop heapreplace nlargest nsmallest bisect bisect_left bisect_right insort
  sqrt floor ceil gcd lcm log log2 log10 exp pow sin cos tan atan atan2 hypot pi inf e factorial comb perm
  isnan isinf isqrt fabs prod fsum dist radians degrees
  ascii_lowercase ascii_uppercase ascii_letters digits punctuation
  chain product permutations combinations accumulate groupby zip_longest islice repeat cycle starmap takewhile
  dropwhile count tee pairwise from_iterable defaultdict Counter deque OrderedDict namedtuple lru_cache cache
  reduce partial wraps itemgetter attrgetter mul add sub
  match search findall finditer sub compile group groups fullmatch escape
  read write readline readlines writelines close seek flush exists path dirname basename environ argv exit stdin
  stdout stderr makedirs listdir getcwd isfile isdir read_text write_text open name parent
  loads dumps load dump random randint choice choices shuffle sample uniform seed randrange
  now today strftime strptime timedelta date datetime time sleep perf_counter
  ArgumentParser add_argument parse_args getLogger info debug warning error basicConfig
  shape reshape array zeros ones empty arange linspace dot sum mean std var min max argmax argmin argsort sort
  astype dtype T transpose concatenate stack vstack hstack unique where abs clip norm linalg eye full zeros_like
  ones_like random normal maximum minimum expand_dims squeeze ravel flatten tolist item cumsum sign inv
  DataFrame Series read_csv to_csv head tail loc iloc iat at groupby agg merge concat fillna dropna drop columns
  index values apply map isnull notnull reset_index set_index sort_values value_counts nunique describe astype
  fit transform fit_transform predict predict_proba score train_test_split KFold StratifiedKFold split
  Module Linear Conv2d ReLU Sequential Dropout Embedding LSTM forward backward step zero_grad parameters
  train eval to cuda device no_grad tensor cat relu softmax log_softmax cross_entropy nll_loss view size unsqueeze
  detach cpu numpy item Adam SGD lr_scheduler DataLoader Dataset utils data nn functional optim save state_dict
  load_state_dict manual_seed is_available max_pool2d
`);
