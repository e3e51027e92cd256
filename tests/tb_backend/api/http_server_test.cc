// A real server on a free port: what only the wire can get wrong.
#include "tb_backend/api/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/tb_backend/api/app_fixture.h"

namespace traceglass {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public testing::AppTest {
 protected:
  void SetUp() override {
    logdir_.write("w.json", testing::small_trace());
    web_.write("index.html", "<!doctype html>" + std::string(5000, 'x'));
    server_ = std::make_unique<HttpServer>(app());
    port_ = server_->bind("127.0.0.1", 0);
    ASSERT_GT(port_, 0);
    thread_ = std::thread([this] { server_->run(); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
  }

  httplib::Client client() const {
    httplib::Client c("127.0.0.1", port_);
    c.set_keep_alive(true);
    return c;
  }

  // Sends bytes as they are, reads until the server closes or has sent all headers. `more` is sent
  // then, and all read until it closes.
  std::string raw(const std::string& request, const std::string& more = "") const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    while (answer.find("\r\n\r\n") == std::string::npos) {
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      answer.append(buffer, static_cast<std::size_t>(n));
    }
    if (!more.empty()) {
      ::send(fd, more.data(), more.size(), MSG_NOSIGNAL);
      for (ssize_t n = 0; (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
        answer.append(buffer, static_cast<std::size_t>(n));
      }
    }
    ::close(fd);
    return answer;
  }

  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(HttpServerTest, AnswersWithGzipTagAndHead) {
  auto c = client();
  const auto plain = c.Get("/", {{"Accept-Encoding", "identity"}});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 200);
  const auto packed = c.Get("/", {{"Accept-Encoding", "gzip, br"}});
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");  // ours, not the library's
  EXPECT_EQ(packed->body, plain->body);                             // the client unpacks
  const auto kept = c.Get("/", {{"If-None-Match", packed->get_header_value("ETag")}});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->status, 304);
  EXPECT_THAT(kept->get_header_value("Content-Type"), StartsWith("text/html"));
  const auto head = c.Head("/", {{"Accept-Encoding", "identity"}});
  ASSERT_TRUE(head);
  EXPECT_EQ(head->get_header_value("Content-Length"), std::to_string(plain->body.size()));
  EXPECT_TRUE(head->body.empty());
}

TEST_F(HttpServerTest, ProblemsForMethodsPathsAndHosts) {
  auto c = client();
  const httplib::Headers write = {{"X-Traceglass-Write", "1"}};
  const auto post = c.Post("/api/runs", write, "{}", "application/json");
  ASSERT_TRUE(post);
  EXPECT_EQ(post->status, 405);
  EXPECT_EQ(post->get_header_value("Content-Type"), "application/problem+json");
  EXPECT_EQ(post->get_header_value("X-Content-Type-Options"), "nosniff");
  const auto again = c.Get("/api/runs");  // the connection is still in step
  ASSERT_TRUE(again);
  EXPECT_EQ(again->status, 200);
  EXPECT_EQ(c.Delete("/api/runs", write)->status, 405);
  EXPECT_EQ(c.Options("/api/runs")->status, 403);  // no site gets leave to write
  EXPECT_EQ(c.Get("/api/none")->status, 404);
  EXPECT_EQ(c.Get("/api/runs", {{"Host", "evil.example"}})->status, 403);
  EXPECT_EQ(c.Get("/..%2f..%2f..%2fetc%2fpasswd")->status, 404);
  EXPECT_EQ(c.Get("/%00")->status, 404);
}

TEST_F(HttpServerTest, MalformedRequestsGetAnAnswerOrAreClosed) {
  const std::string host = "Host: 127.0.0.1\r\nConnection: close\r\n";
  EXPECT_THAT(raw("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(raw("GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n"),
              HasSubstr(" 414 "));
  EXPECT_THAT(raw("BREW /api/runs HTTP/1.1\r\n" + host + "\r\n"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(raw("GET /api/runs HTTP/1.1\r\nConnection: close\r\n\r\n"), HasSubstr(" 403 "));
  EXPECT_THAT(raw("POST /api/runs HTTP/1.1\r\n" + host + "Content-Length: 700000\r\n\r\n" +
                  std::string(700'000, 'x')),
              HasSubstr(" 413 "));
  EXPECT_THAT(raw("GET /a\tb?%zz=%&&&==& HTTP/1.1\r\n" + host + "\r\n"), StartsWith("HTTP/1.1 4"));
  // Nothing of the request may start a header of the answer.
  const std::string split =
      raw("GET /data/plugin/traceglass?a=%0d%0aX-Evil:%201 HTTP/1.1\r\n" + host + "\r\n");
  EXPECT_EQ(split.find("\r\nX-Evil"), std::string::npos);
  // And it still serves.
  EXPECT_EQ(client().Get("/api/runs")->status, 200);
}

TEST_F(HttpServerTest, ABodyIsNeverTakenForARequest) {
  const std::string hidden =
      "GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  const std::string length = "Content-Length: " + std::to_string(hidden.size()) + "\r\n";
  const std::string host = " /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Traceglass-Write: 1\r\n";
  for (const std::string& head :
       {"GET" + host + length, "HEAD" + host + length, "OPTIONS" + host + length,
        "GET" + host + "Transfer-Encoding: chunked\r\n",
        "GET" + host + "Content-Length: 0\r\n" + length,
        "POST" + host + length + "Transfer-Encoding: chunked\r\n",
        "POST" + host + "Transfer-Encoding: xchunked\r\n",
        "POST" + host + "Content-Length: +5\r\n"}) {
    const std::string answer = raw(head + "\r\n", hidden);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << head;
    EXPECT_EQ(answer.find("HTTP/1.1", 9), std::string::npos) << head;  // no second answer
    EXPECT_EQ(answer.find("\"runs\""), std::string::npos) << head;
  }
  // An empty one is none.
  EXPECT_THAT(raw("GET" + host + "Content-Length: 0\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, NoBodyIsWaitedForThatDoesNotCome) {
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string method : {"DELETE", "POST"}) {
    EXPECT_THAT(raw(method + " /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Traceglass-Write: 1\r\n" +
                    "Content-Type: application/json\r\n\r\n"),
                StartsWith("HTTP/1.1 405"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));  // of 5 each
}

TEST_F(HttpServerTest, RangesAreNotOffered) {
  std::string many = "bytes=0-";
  for (int i = 0; i < 500; ++i) many += ",0-";
  const auto reply = client().Get("/", {{"Range", many}, {"Accept-Encoding", "identity"}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body.size(), 5015U);
}

TEST_F(HttpServerTest, ManyClientsAtOnceGetTheSameAnswers) {
  const std::string trace = loaded("w.json");
  const std::string gen = json(ask(trace + "meta"))["generation"];
  const std::string tiles = trace + "tiles?k=6&i=0-3&g=0,1,2&gen=" + gen;
  const std::string expected = *ask(tiles).body;
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 24; ++t) {
    clients.emplace_back([&] {
      auto c = client();
      for (int i = 0; i < 20; ++i) {
        const auto reply = c.Get(i % 4 == 0 ? trace + "overview" : tiles);
        if (reply && reply->status == 200 && (i % 4 == 0 || reply->body == expected)) ++right;
      }
    });
  }
  for (auto& t : clients) t.join();
  EXPECT_EQ(right, 24 * 20);
}

TEST_F(HttpServerTest, ATakenPortIsSaid) {
  HttpServer second(app());
  EXPECT_EQ(second.bind("127.0.0.1", port_), 0);
}

}  // namespace
}  // namespace traceglass
